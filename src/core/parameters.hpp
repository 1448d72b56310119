// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace furrow {

/// What follows the name of a format, a solver or a preconditioner, "8:256" of `sell:8:256`, taken apart. Every
/// complaint is a `fault::usage` that names the usage, e.g. "sell[:HEIGHT[:WINDOW]]". What has a name in the usage,
/// "ilu[:LEVEL][:sweeps=K]", is given as `sweeps=3` behind any colon and is not counted among the others; of one whose
/// usage ends in `FILE` the value is all that follows, colons too.
class entry_parameters {
public:
  entry_parameters(std::string_view usage, std::string_view text);

  bool has(std::size_t k) const { return k < words_.size(); }
  std::string_view word(std::size_t k) const { return words_[k]; }
  /// Parameter k, `fallback` where it was not given.
  index_t whole(std::size_t k, index_t fallback, index_t least, index_t most) const;
  double number(std::size_t k, double fallback, double least, double most) const;
  /// What was given for a name; nothing where it was not.
  std::optional<std::string_view> named(std::string_view name) const;
  index_t whole(std::string_view name, index_t fallback, index_t least, index_t most) const;
  [[noreturn]] void refuse(std::string_view why) const;

private:
  index_t whole_of(std::string_view word, index_t least, index_t most) const;

  std::string_view usage_, text_;
  std::vector<std::string_view> words_; ///< those without a name
};

/// For an entry without parameters: refuses any.
inline void no_parameters(std::string_view name, std::string_view text) { const entry_parameters none(name, text); }

/// "sell:8:256" as its name and what follows the first colon.
struct name_and_parameters {
  std::string_view name, parameters;
};
inline name_and_parameters take_apart(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  return {text.substr(0, colon), text.substr(std::min(colon + 1, text.size()))};
}

} // namespace furrow
