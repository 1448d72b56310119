// SPDX-License-Identifier: BSD-3-Clause
#include "row_lengths.hpp"

#include "picture/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace furrow::report {
namespace {

std::vector<length_class> single_lengths(index_t shortest, index_t longest) {
  std::vector<length_class> classes;
  for (index_t n = shortest; n <= longest; ++n) classes.push_back({n, n});
  return classes;
}

std::vector<length_class> doubling_lengths(index_t shortest, index_t longest) {
  std::vector<length_class> classes;
  if (shortest == 0) classes.push_back({0, 0});
  for (auto n = std::bit_floor(static_cast<std::size_t>(std::max<index_t>(shortest, 1))); index_t(n) <= longest; n *= 2)
    classes.push_back({index_t(n), index_t(2 * n - 1)});
  return classes;
}

} // namespace

std::vector<length_class> row_lengths(const coo<double>& a, index_t shortest, index_t longest) {
  constexpr index_t most_singles = 16;
  if (a.shape.rows == 0) return {};
  auto classes =
      longest - shortest < most_singles ? single_lengths(shortest, longest) : doubling_lengths(shortest, longest);
  const auto count = [&](index_t length, index_t rows) {
    std::ranges::lower_bound(classes, length, {}, &length_class::most)->rows += rows;
  };
  index_t empty = a.shape.rows;
  for (index_t first = 0, k = 1; k <= a.nnz(); ++k) {
    if (k < a.nnz() && a.row[k] == a.row[first]) continue;
    count(k - first, 1);
    first = k;
    --empty;
  }
  if (empty > 0) count(0, empty);
  return classes;
}

std::string draw_row_lengths(const std::vector<length_class>& classes) {
  if (classes.size() < 2) return {}; // rows of one length need no picture
  std::vector<std::string> names;
  std::vector<double> rows;
  for (const length_class& c : classes) {
    names.push_back(c.least == c.most ? fmt::format("{}", c.least) : fmt::format("{} to {}", c.least, c.most));
    rows.push_back(double(c.rows));
  }
  picture::chart bars("Rows by their number of entries", std::move(names), {"rows"});
  bars.groups_are("entries of a row");
  bars.bars("rows", rows);
  return bars.svg();
}

} // namespace furrow::report
