// SPDX-License-Identifier: BSD-3-Clause
#include "read_text.hpp"
#include "refuse.hpp"
#include "scan_number.hpp"

#include <algorithm>

namespace furrow::io {
namespace {

constexpr std::string_view supplements[] = {"ord", "rhs", "sln", "est", "evl", "svl", "evc", "svc",
                                            "sbv", "sbm", "sbp", "ipt", "icv", "lvl", "geo", "avl"};

std::string_view line_of(std::string_view text, int number) {
  for (; number > 0; --number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

/// The third line of Harwell-Boeing and Rutherford-Boeing matrices says the type in three letters, then sizes. The
/// supplementary files of Rutherford-Boeing say theirs in the second line, and a Fortran format in the third.
bool is_harwell_boeing(std::string_view text) {
  const std::string_view second = line_of(text, 1), third = line_of(text, 2);
  const auto one_of = [&](std::size_t at, std::string_view letters) {
    return letters.find(third[at]) != std::string_view::npos;
  };
  if (third.starts_with('('))
    return std::any_of(std::begin(supplements), std::end(supplements), [&](auto s) { return second.starts_with(s); });
  return third.size() >= 18 && one_of(0, "rcpiqxRCPIQX") && one_of(1, "suhzrSUHZR") && one_of(2, "aeAE") &&
         std::any_of(third.begin() + 3, third.end(), is_digit);
}

bool is_numbers(std::string_view line) {
  bool any = false;
  for (std::size_t at = 0; at < line.size();) {
    if (is_blank(line[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < line.size() && !is_blank(line[end])) ++end;
    double value = 0;
    if (read_real(line.substr(at, end - at), value) != number::good) return false;
    any = true;
    at = end;
  }
  return any;
}

std::string guess(std::string_view text) {
  using std::operator""sv;
  static constexpr struct {
    std::string_view magic, about;
  } known[] = {
      {"\x89HDF\r\n", "an HDF5 file"},
      {"MATLAB 5.0", "a MATLAB file"},
      {"\x93NUMPY", "a NumPy array"},
      {"PK\x03\x04", "a zip archive"},
  };
  for (const auto& k : known)
    if (text.starts_with(k.magic)) return std::string("it is ") + std::string(k.about);
  if (is_harwell_boeing(text)) return "it looks like Harwell-Boeing or Rutherford-Boeing, which is not supported";
  const std::string_view first = line_of(text, 0);
  if (first.starts_with('%')) return "its first line is " + in_quotes(first);
  if (is_numbers(first)) return "it looks like bare numbers or triplets without the banner";
  const auto strange = [](char c) { return static_cast<unsigned char>(c) < ' ' && !is_blank(c) && c != '\n'; };
  if (std::any_of(text.begin(), text.end(), strange)) return "it is binary data";
  if (first.empty()) return "its first line is empty";
  return "its first line is " + in_quotes(first);
}

} // namespace

void refuse_unknown(std::string_view text, const std::string& file) {
  if (text.empty()) refuse(file, "the file is empty");
  refuse(file, 1, "no Matrix Market file, which begins with '%%MatrixMarket matrix': " + guess(text));
}

} // namespace furrow::io
