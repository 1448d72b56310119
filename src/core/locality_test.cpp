// SPDX-License-Identifier: BSD-3-Clause
#include "locality.hpp"

#include "kit/matrices.hpp"

#include <furrow/device.hpp>

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

namespace furrow {
namespace {

/// The three shares of a matrix of at most 1024 rows, by sets.
locality by_sets(const coo<double>& a) {
  std::set<std::tuple<index_t, index_t>> by_row;
  std::set<std::tuple<index_t, index_t, index_t>> by_slice;
  std::set<index_t> by_window;
  std::map<index_t, index_t> seen; // entries so far, by row
  for (index_t k = 0; k < a.nnz(); ++k) {
    const index_t row = a.row[k], sector = a.col[k] / locality::elements;
    by_row.emplace(row, sector);
    by_slice.emplace(row / 32, seen[row]++, sector);
    by_window.insert(sector);
  }
  const double n = double(a.nnz());
  return {double(by_row.size()) / n, double(by_slice.size()) / n, double(by_window.size()) / n};
}

stats sizes_of(const coo<double>& a) {
  stats s;
  s.shape = a.shape;
  s.nnz = a.nnz();
  return s;
}

TEST(locality, counts_the_sectors_of_rows_slices_and_windows) {
  for (const auto& m : kit::battery()) {
    if (m.a.nnz() == 0 || m.a.shape.rows > 1024) continue;
    const locality got = measure_locality(m.a, sizes_of(m.a)), expected = by_sets(m.a);
    EXPECT_EQ(got.by_row, expected.by_row) << m.name;
    EXPECT_EQ(got.by_slice, expected.by_slice) << m.name;
    EXPECT_EQ(got.by_window, expected.by_window) << m.name;
  }
}

TEST(locality, of_a_matrix_without_entries_is_the_worst) {
  const locality none = measure_locality(coo<double>{{1000, 1000}, {}, {}, {}}, {});
  EXPECT_EQ(none.by_row, 1);
  EXPECT_EQ(none.by_window, 1);
}

TEST(locality, is_the_same_for_every_number_of_threads) {
  const auto a = kit::laplacian(300, 300);
  const locality first = measure_locality(a, sizes_of(a));
  for (const int count : {1, 3}) {
    set_threads(count);
    const locality again = measure_locality(a, sizes_of(a));
    EXPECT_EQ(first.by_row, again.by_row);
    EXPECT_EQ(first.by_slice, again.by_slice);
    EXPECT_EQ(first.by_window, again.by_window);
  }
  set_threads(0);
}

} // namespace
} // namespace furrow
