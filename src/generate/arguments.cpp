// SPDX-License-Identifier: BSD-3-Clause
#include "arguments.hpp"

#include "core/counted.hpp"

#include <furrow/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace furrow {
namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    words.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

/// All of `word` as a number.
template <class T> bool parse(const std::string& word, T& value) {
  const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  return code == std::errc{} && stop == word.data() + word.size();
}

/// Whether it is a whole number beyond the largest one.
template <class Whole> bool is_too_large(const std::string& word) {
  Whole value = 0;
  const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  return code == std::errc::result_out_of_range && stop == word.data() + word.size() && word[0] != '-';
}

/// Of one "its argument is missing".
std::string missing_text(std::size_t missing, std::size_t required) {
  if (required == 1) return "its argument is missing";
  return fmt::format("{} of {} arguments {} missing", missing, required, missing == 1 ? "is" : "are");
}

} // namespace

arguments::arguments(std::string_view spec, std::string_view usage, std::string_view example)
    : spec_(spec), usage_(usage), example_(example) {
  words_ = split(spec);
  words_.erase(words_.begin());
  const bool seeded = usage.ends_with("[:SEED]");
  required_ = static_cast<std::size_t>(std::ranges::count(usage, ':')) - (seeded ? 1 : 0);
  check_that(words_.size() >= required_, missing_text(required_ - words_.size(), required_));
  const std::size_t most = required_ + (seeded ? 1 : 0);
  check_that(words_.size() <= most,
             fmt::format("there are {}, {} {} the most", counted(index_t(words_.size()), "argument"), most,
                         most == 1 ? "is" : "are"));
}

index_t arguments::whole(std::size_t k, index_t least) const {
  index_t value = 0;
  check_that(!is_too_large<index_t>(words_[k]), fmt::format("'{}' is too large a number", words_[k]));
  check_that(parse(words_[k], value) && value >= least,
             fmt::format("'{}' is not a whole number of at least {}", words_[k], least));
  return value;
}

double arguments::real(std::size_t k) const {
  double value = 0;
  check_that(parse(words_[k], value) && std::isfinite(value), fmt::format("'{}' is not a number", words_[k]));
  return value;
}

std::uint64_t arguments::seed() const {
  std::uint64_t value = 0;
  if (words_.size() > required_) {
    check_that(!is_too_large<std::uint64_t>(words_.back()),
               fmt::format("the seed {} is not below 2^64", words_.back()));
    check_that(parse(words_.back(), value), fmt::format("the seed '{}' is not a whole number", words_.back()));
  }
  return value;
}

void arguments::check_that(bool ok, const std::string& why) const {
  if (!ok) throw error(fault::usage, fmt::format("{}: {}; usage: {}, for example {}", spec_, why, usage_, example_));
}

index_t arguments::rows(std::initializer_list<index_t> factors) const {
  constexpr index_t most = std::numeric_limits<std::int32_t>::max();
  index_t product = 1;
  for (const index_t f : factors) {
    check_that(f <= most / std::max<index_t>(product, 1), "more than 2^31 - 1 rows");
    product *= f;
  }
  return product;
}

} // namespace furrow
