// SPDX-License-Identifier: BSD-3-Clause
#include "sample.hpp"

#include "blocks.hpp"
#include "row_sum.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/generate.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace furrow {
namespace {

/// The rows that statistics look at, and no others, with the values that they look at.
coo<double> sample_of(const coo<double>& a) {
  const stats s = measure(a);
  std::vector<char> wanted(static_cast<std::size_t>(a.shape.rows), 0), with_values = wanted;
  for (const row_range& r : rows_of_statistics(s)) std::fill_n(wanted.begin() + r.first, r.count, 1);
  for (const row_range& r : rows_of_values(s)) std::fill_n(with_values.begin() + r.first, r.count, 1);
  std::vector<index_t> kept;
  for (index_t k = 0; k < a.nnz(); ++k)
    if (wanted[a.row[k]]) kept.push_back(k);
  const auto count = static_cast<index_t>(kept.size());
  coo<double> some{a.shape, host_array<std::int32_t>(count), host_array<std::int32_t>(count),
                   host_array<double>(count)};
  for (index_t k = 0; k < count; ++k) {
    some.row[k] = a.row[kept[k]], some.col[k] = a.col[kept[k]];
    some.val[k] = with_values[some.row[k]] ? a.val[kept[k]] : 0;
  }
  return some;
}

TEST(sample, tells_what_the_whole_matrix_tells) {
  auto all = kit::whole_battery();
  for (const char* spec : {"poisson2d:700", "powerlaw:200000:4:2.3", "banded:100000:5:300", "elasticity3d:20"})
    all.push_back({spec, generate(spec).a});
  auto zeros = kit::laplacian(300, 300);
  for (index_t k = 0; k < zeros.nnz(); k += 3) zeros.val[k] = 0;
  all.push_back({"stored zeros", zeros});
  for (const auto& m : all) {
    SCOPED_TRACE(m.name);
    const stats wanted = measure(m.a);
    const coo<double> some = sample_of(m.a);
    stats got;
    got.shape = wanted.shape;
    got.nnz = wanted.nnz;
    got.slice_places = wanted.slice_places;
    measure_samples(some, got);
    EXPECT_EQ(got.near.by_row, wanted.near.by_row);
    EXPECT_EQ(got.near.by_slice, wanted.near.by_slice);
    EXPECT_EQ(got.near.by_window, wanted.near.by_window);
    ASSERT_EQ(got.estimates.size(), wanted.estimates.size());
    for (std::size_t k = 0; k < got.estimates.size(); ++k) {
      SCOPED_TRACE(std::string(wanted.estimates[k].format));
      EXPECT_EQ(got.estimates[k].format, wanted.estimates[k].format);
      EXPECT_EQ(got.estimates[k].number, wanted.estimates[k].number);
    }
    if (m.a.nnz() < blocks_sampled_from) continue;
    EXPECT_EQ(judge_edges(m.a.shape, as_cview(some.row), as_cview(some.col)),
              judge_edges(m.a.shape, as_cview(m.a.row), as_cview(m.a.col)));
  }
}

TEST(sample, lies_in_every_part_and_not_at_one_place_of_the_lines_of_a_grid) {
  const spread_rows some{index_t(1) << 20, 32, index_t(1) << 15, 64};
  std::set<index_t> places; // in lines of 128 rows
  for (index_t k = 0; k < some.count; ++k) {
    EXPECT_GE(some[k].first, k << 14);
    EXPECT_LE(some[k].first + some[k].count, (k + 1) << 14);
    places.insert(some[k].first % 128);
  }
  EXPECT_EQ(places.size(), 4U);
  const spread_rows all{1000, 16, 63, 63};
  for (index_t k = 0; k < all.count; ++k) EXPECT_EQ(all[k].first, 16 * k);
}

TEST(sample, leaves_most_of_a_large_matrix_out) {
  index_t rows = 0, after = 0;
  stats large;
  large.shape = {8'000'000, 8'000'000};
  large.nnz = 56'000'000;
  large.slice_places.fill(60'000'000);
  for (const row_range& r : rows_of_statistics(large)) {
    EXPECT_GT(r.first, after - (after == 0)); // ascending, with a gap
    EXPECT_GT(r.count, 0);
    after = r.first + r.count;
    rows += r.count;
  }
  EXPECT_LE(after, 8'000'000);
  EXPECT_LT(rows, 400'000);
}

TEST(row_sum, adds_eight_lanes_and_then_their_halves) {
  row_sum sum;
  for (const double v : {1.0, 0x1p-53, 0x1p-53, 0.0, 0x1p-53, 0x1p-53, 0.0, 0.0, 0x1p-53}) sum.add(v);
  EXPECT_EQ(sum.total(), ((1.0 + 0x1p-53) + 0x1p-53 + 0x1p-53) + (0x1p-53 + 0x1p-53));
  EXPECT_EQ(row_sum().total(), 0);
}

TEST(row_sum, of_all_entries_at_once_is_the_same) {
  const auto v = kit::random_vector<double>(3 * row_sum_piece + 9, 7);
  for (const index_t n :
       {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 1023, 1024, 1025, 1033, 2048, 3 * row_sum_piece + 9}) {
    row_sum one_by_one;
    for (index_t k = 0; k < n; ++k) one_by_one.add(std::abs(v[k]));
    EXPECT_EQ(sum_of_row(n, [&](index_t k) { return std::abs(v[k]); }), one_by_one.total()) << n;
  }
}

TEST(row_sum, adds_long_rows_piece_by_piece) {
  row_sum all;
  std::vector<row_sum> pieces;
  for (int k = 0; k < 2 * row_sum_piece + 5; ++k) {
    if (k % row_sum_piece == 0) pieces.emplace_back();
    all.add(1 / double(k + 3));
    pieces.back().add(1 / double(k + 3));
  }
  double wanted = 0;
  for (const row_sum& one : pieces) wanted += one.total();
  EXPECT_EQ(all.total(), wanted);
}

} // namespace
} // namespace furrow
