// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <string_view>
#include <vector>

namespace furrow {

/// What follows a format's name, "8:256" of `sell:8:256`, taken apart. Every complaint is a `fault::usage` that names
/// the format and its usage, e.g. "sell[:HEIGHT[:WINDOW]]".
class format_parameters {
public:
  format_parameters(std::string_view usage, std::string_view text);

  bool has(std::size_t k) const { return k < words_.size(); }
  std::string_view word(std::size_t k) const { return words_[k]; }
  /// Parameter k, `fallback` where it was not given.
  index_t whole(std::size_t k, index_t fallback, index_t least, index_t most) const;
  [[noreturn]] void refuse(std::string_view why) const;

private:
  std::string_view usage_, text_;
  std::vector<std::string_view> words_;
};

/// For a format without parameters: refuses any.
inline void no_parameters(std::string_view format, std::string_view text) {
  const format_parameters none(format, text);
}

} // namespace furrow
