// SPDX-License-Identifier: BSD-3-Clause
#include "parameters.hpp"

#include <furrow/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace furrow {

namespace {

bool takes_rest(std::string_view usage, std::string_view name) {
  const auto at = usage.find(fmt::format(":{}=", name));
  if (at == usage.npos) return false;
  const auto value = usage.substr(at, usage.find(']', at) - at);
  return value.ends_with("FILE");
}

/// f(name, value) for each parameter in turn; the name is empty where it has none.
template <class F> void for_each_parameter(std::string_view usage, std::string_view text, F&& f) {
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = std::min(text.find(':', begin), text.size());
    const std::size_t sign = text.find('=', begin);
    if (sign >= end || sign == begin) f(std::string_view(), text.substr(begin, end - begin));
    else {
      const std::string_view name = text.substr(begin, sign - begin);
      if (takes_rest(usage, name)) end = text.size();
      f(name, text.substr(sign + 1, end - sign - 1));
    }
    begin = end + 1;
  }
}

} // namespace

entry_parameters::entry_parameters(std::string_view usage, std::string_view text) : usage_(usage), text_(text) {
  std::vector<std::string_view> names;
  for_each_parameter(usage, text, [&](std::string_view name, std::string_view value) {
    if (name.empty()) return words_.push_back(value);
    if (usage.find(fmt::format(":{}=", name)) == usage.npos) refuse(fmt::format("it has no parameter '{}'", name));
    if (std::ranges::count(names, name)) refuse(fmt::format("'{}' is given twice", name));
    names.push_back(name);
  });
  const auto most = static_cast<std::size_t>(std::ranges::count(usage, ':') - std::ranges::count(usage, '='));
  if (words_.size() > most)
    refuse(most ? fmt::format("there are {} parameters, {} are the most", words_.size(), most)
           : usage.find('=') != usage.npos ? fmt::format("'{}' is given without a name", words_[0])
                                           : "it takes no parameters");
}

index_t entry_parameters::whole_of(std::string_view word, index_t least, index_t most) const {
  index_t value = 0;
  const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (code != std::errc{} || stop != word.data() + word.size() || value < least || value > most)
    refuse(fmt::format("'{}' is not a whole number from {} to {}", word, least, most));
  return value;
}

index_t entry_parameters::whole(std::size_t k, index_t fallback, index_t least, index_t most) const {
  return has(k) ? whole_of(words_[k], least, most) : fallback;
}

std::optional<std::string_view> entry_parameters::named(std::string_view name) const {
  std::optional<std::string_view> found;
  for_each_parameter(usage_, text_, [&](std::string_view n, std::string_view value) {
    if (n == name) found = value;
  });
  return found;
}

index_t entry_parameters::whole(std::string_view name, index_t fallback, index_t least, index_t most) const {
  const auto given = named(name);
  return given ? whole_of(*given, least, most) : fallback;
}

double entry_parameters::number(std::size_t k, double fallback, double least, double most) const {
  if (!has(k)) return fallback;
  const std::string_view word = words_[k];
  double value = 0;
  const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (code != std::errc{} || stop != word.data() + word.size() || !(value >= least) || !(value <= most))
    refuse(fmt::format("'{}' is not a number from {} to {}", word, least, most));
  return value;
}

void entry_parameters::refuse(std::string_view why) const {
  const std::string_view name = usage_.substr(0, usage_.find_first_of("[:"));
  throw error(fault::usage, fmt::format("{}:{}: {}; usage: {}", name, text_, why, usage_));
}

} // namespace furrow
