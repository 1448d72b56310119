// SPDX-License-Identifier: BSD-3-Clause
#include "cut.hpp"

#include "core/check.hpp"

#include <furrow/io.hpp>

#include <charconv>
#include <cmath>
#include <string>
#include <vector>

namespace furrow::block_jacobi_preconditioner {
namespace {

/// Digits and commas alone.
bool is_list(std::string_view given) { return given.find_first_not_of("0123456789,") == given.npos; }

std::vector<index_t> read_list(std::string_view given) {
  std::vector<index_t> numbers;
  for (std::size_t begin = 0; begin <= given.size();) {
    const std::size_t end = std::min(given.find(',', begin), given.size());
    const auto word = given.substr(begin, end - begin);
    index_t value = 0;
    const auto [stop, code] = std::from_chars(word.data(), word.data() + word.size(), value);
    check(code == std::errc{}, fault::input, "start {} of block_jacobi is '{}', which is no number of a row",
          numbers.size() + 1, word);
    numbers.push_back(value);
    begin = end + 1;
  }
  return numbers;
}

std::vector<index_t> read_file(std::string_view name) {
  check(name != "-", fault::usage,
        "block_jacobi reads its starts more than once, standard input can be read once: "
        "write them to a file");
  const host_array<double> values = read_vector(source(std::string(name)));
  std::vector<index_t> numbers;
  numbers.reserve(static_cast<std::size_t>(values.size()));
  for (const double v : values) {
    check(v == std::floor(v) && std::abs(v) < 0x1p53, fault::input,
          "{}: start {} of block_jacobi is {}, which is no number of a row", name, numbers.size() + 1, v);
    numbers.push_back(static_cast<index_t>(v));
  }
  return numbers;
}

} // namespace

cut cut_by_starts(std::string_view given, index_t rows) {
  check(!given.empty(), fault::usage, "starts= of block_jacobi wants numbers, 0,3,7, or the name of a file with them");
  std::vector<index_t> starts = is_list(given) ? read_list(given) : read_file(given);
  check(!starts.empty() && starts[0] == 0, fault::input,
        "the first block of block_jacobi starts at row {}: starts are counted from 0 and the first is 0",
        starts.empty() ? "?" : std::to_string(starts[0]));
  for (std::size_t k = 1; k < starts.size(); ++k) {
    check(starts[k] > starts[k - 1], fault::input,
          "start {} of block_jacobi is {}, after {}: each must be larger than the one before", k + 1, starts[k],
          starts[k - 1]);
    check(starts[k] < rows || (starts[k] == rows && k + 1 == starts.size()), fault::input,
          "start {} of block_jacobi is row {} counted from 0, but the matrix has {} rows", k + 1, starts[k], rows);
  }
  if (starts.back() < rows || rows == 0) starts.push_back(rows);
  for (std::size_t k = 1; k < starts.size(); ++k)
    check(starts[k] - starts[k - 1] <= most_rows, fault::input,
          "block {} of block_jacobi has {} rows, from {} on counted from 0: {} are the most", k,
          starts[k] - starts[k - 1], starts[k - 1], most_rows);
  host_array<index_t> kept(index_t(starts.size()));
  std::ranges::copy(starts, kept.begin());
  return cut(std::move(kept));
}

} // namespace furrow::block_jacobi_preconditioner
