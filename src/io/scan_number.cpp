// SPDX-License-Identifier: BSD-3-Clause
#include "scan_number.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

namespace furrow::io {
namespace {

/// The pieces of [sign] digits [. digits] [e [sign] digits], or `good == false`.
struct anatomy {
  bool good = false, negative = false;
  std::string_view whole, fraction, exponent; // the exponent with its sign, without a plus
};

anatomy dissect(std::string_view text) {
  anatomy out;
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t from = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return text.substr(from, at - from);
  };
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) out.negative = text[at++] == '-';
  out.whole = digits();
  if (at < text.size() && text[at] == '.') {
    ++at;
    out.fraction = digits();
  }
  if (out.whole.empty() && out.fraction.empty()) return out;
  if (at < text.size() && std::string_view("eEdD").find(text[at]) != std::string_view::npos) {
    ++at;
    const bool signs = at < text.size() && (text[at] == '-' || text[at] == '+');
    const std::size_t from = signs && text[at] == '+' ? at + 1 : at;
    at += signs;
    if (digits().empty()) return out;
    out.exponent = text.substr(from, at - from);
  }
  out.good = at == text.size();
  return out;
}

/// Whether the number is below 1, by the place of its first digit that is not 0.
bool below_one(const anatomy& a) {
  const std::size_t lead = a.whole.find_first_not_of('0');
  const std::size_t zeros = a.fraction.find_first_not_of('0');
  double place = lead != std::string_view::npos    ? static_cast<double>(a.whole.size() - lead)
                 : zeros != std::string_view::npos ? -static_cast<double>(zeros)
                                                   : -1e300;
  const bool down = !a.exponent.empty() && a.exponent[0] == '-';
  double exponent = 0;
  for (const char c : a.exponent.substr(down)) exponent = std::min(exponent * 10 + (c - '0'), 1e300);
  return place + (down ? -exponent : exponent) <= 0;
}

} // namespace

namespace {

/// nan, inf or infinity in any case, with or without a sign.
bool read_word(std::string_view text, double& value) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto is = [&](std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                      [](char x, char y) { return (x | 0x20) == y; });
  };
  if (is("nan")) value = std::numeric_limits<double>::quiet_NaN();
  else if (is("inf") || is("infinity")) value = std::numeric_limits<double>::infinity();
  else return false;
  if (negative) value = -value;
  return true;
}

} // namespace

number read_real(std::string_view text, double& value) {
  if (read_word(text, value)) return number::good;
  const anatomy a = dissect(text);
  if (!a.good) return number::malformed;
  std::string plain; // what from_chars reads: no plus, e as the exponent's letter
  if (a.negative) plain += '-';
  plain.append(a.whole.empty() ? "0" : a.whole).append(".").append(a.fraction.empty() ? "0" : a.fraction);
  if (!a.exponent.empty()) plain.append("e").append(a.exponent);
  const auto [end, problem] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (problem == std::errc::result_out_of_range) {
    if (!below_one(a)) return number::too_large;
    value = a.negative ? -0.0 : 0.0;
    return number::good;
  }
  if (problem != std::errc() || end != plain.data() + plain.size()) return number::malformed;
  return std::bit_cast<std::uint64_t>(value) << 1 >> 53 == 0x7FF ? number::too_large : number::good;
}

number read_integer(std::string_view text, double& value) {
  const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  if (text.size() == sign || !std::all_of(text.begin() + sign, text.end(), is_digit)) return number::malformed;
  return read_real(text, value);
}

} // namespace furrow::io
