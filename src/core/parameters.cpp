// SPDX-License-Identifier: BSD-3-Clause
#include "parameters.hpp"

#include <furrow/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace furrow {

entry_parameters::entry_parameters(std::string_view usage, std::string_view text) : usage_(usage), text_(text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    words_.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto most = static_cast<std::size_t>(std::ranges::count(usage, ':'));
  if (words_.size() > most)
    refuse(most ? fmt::format("there are {} parameters, {} are the most", words_.size(), most)
                : "it takes no parameters");
}

index_t entry_parameters::whole(std::size_t k, index_t fallback, index_t least, index_t most) const {
  if (!has(k)) return fallback;
  const std::string_view word = words_[k];
  index_t value = 0;
  const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (code != std::errc{} || stop != word.data() + word.size() || value < least || value > most)
    refuse(fmt::format("'{}' is not a whole number from {} to {}", word, least, most));
  return value;
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
  throw error(fault::usage, fmt::format("parameters '{}': {}; usage: {}", text_, why, usage_));
}

} // namespace furrow
