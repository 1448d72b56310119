// SPDX-License-Identifier: BSD-3-Clause
#include "read_text.hpp"
#include "refuse.hpp"
#include "scan_number.hpp"

#include <fmt/format.h>

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

constexpr std::string_view remedy = "scipy.io.mmwrite writes a matrix, numpy.savetxt a vector that can be read";

constexpr struct {
  std::string_view magic, about, remedy;
} known[] = {
    {"\x89HDF\r\n", "an HDF5 file", remedy},
    {"MATLAB 5.0", "a MATLAB file", remedy},
    {"MATLAB 7.3", "a MATLAB file (HDF5)", remedy},
    {"\x93NUMPY", "a NumPy array", remedy},
    {"PK\x03\x04", "a zip archive, as .npz files are", remedy},
    {"\x80\x03", "a pickle of Python", remedy},
    {"\x80\x04", "a pickle of Python", remedy},
    {"\x80\x05", "a pickle of Python", remedy},
    {"PAR1", "a Parquet file", remedy},
    {"\xFF\xFE", "text in UTF-16", "iconv -f UTF-16 -t UTF-8 converts it"},
    {"\xFE\xFF", "text in UTF-16", "iconv -f UTF-16 -t UTF-8 converts it"},
    {"\x04\x22\x4D\x18", "compressed by lz4", "lz4 -d decompresses it"},
    {"7z\xBC\xAF", "a 7z archive", "7z x unpacks it"},
};

bool is_binary(std::string_view text) {
  const auto strange = [](char c) { return static_cast<unsigned char>(c) < ' ' && !is_blank(c) && c != '\n'; };
  return std::any_of(text.begin(), text.end(), strange);
}

std::string guess(std::string_view text) {
  const std::string_view first = line_of(text, 0);
  if (const std::string kind = foreign_kind(text); !kind.empty()) return "it is " + kind;
  if (is_harwell_boeing(text)) return "it looks like Harwell-Boeing or Rutherford-Boeing, which is not supported";
  if (first.starts_with('%')) return "its first line is " + in_quotes(first);
  if (is_numbers(first)) return "it looks like bare numbers or triplets without the banner";
  if (is_binary(text)) return "it is binary data";
  if (first.empty()) return "its first line is empty";
  return "its first line is " + in_quotes(first);
}

} // namespace

std::string foreign_kind(std::string_view text) {
  for (const auto& k : known)
    if (text.starts_with(k.magic)) return fmt::format("{}; {}", k.about, k.remedy);
  std::string_view first = without_mark(text.substr(0, text.find_first_of("\r\n")));
  while (!first.empty() && is_blank(first[0])) first.remove_prefix(1);
  return !first.starts_with('%') && is_binary(first) ? "binary data" : "";
}

void refuse_unknown(std::string_view text, const std::string& file) {
  if (text.empty()) refuse(file, "the file is empty");
  refuse(file, 1, "no Matrix Market file, which begins with '%%MatrixMarket matrix': " + guess(text));
}

} // namespace furrow::io
