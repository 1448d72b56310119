// SPDX-License-Identifier: BSD-3-Clause
// What is found out about rows on the GPU is what the host finds.
#include "path.hpp"

#include "core/distinct.hpp"
#include "core/measure.hpp"
#include "core/symmetry.hpp"
#include "matrix/source.hpp"
#include "solve/features.hpp"

#include "kit/said_by.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace furrow {
namespace {

void expect_same(const stats& got, const stats& wanted) {
  EXPECT_EQ(got.shape, wanted.shape);
  EXPECT_EQ(got.nnz, wanted.nnz);
  EXPECT_EQ(got.row_min, wanted.row_min);
  EXPECT_EQ(got.row_max, wanted.row_max);
  EXPECT_EQ(got.row_mean, wanted.row_mean);
  EXPECT_EQ(got.row_deviation, wanted.row_deviation);
  EXPECT_EQ(got.empty_rows, wanted.empty_rows);
  EXPECT_EQ(got.rows_reaching, wanted.rows_reaching);
  EXPECT_EQ(got.lengths_fingerprint, wanted.lengths_fingerprint);
  EXPECT_EQ(got.slice_places, wanted.slice_places);
  EXPECT_EQ(got.row_histogram, wanted.row_histogram);
  EXPECT_EQ(got.lower_bandwidth, wanted.lower_bandwidth);
  EXPECT_EQ(got.upper_bandwidth, wanted.upper_bandwidth);
  EXPECT_EQ(got.diagonals, wanted.diagonals);
  EXPECT_EQ(got.zero_diagonal, wanted.zero_diagonal);
  EXPECT_EQ(got.explicit_zeros, wanted.explicit_zeros);
  EXPECT_EQ(got.norm_inf, wanted.norm_inf);
  EXPECT_EQ(got.largest, wanted.largest);
  EXPECT_EQ(got.finite, wanted.finite);
  EXPECT_EQ(got.distinct_values, wanted.distinct_values);
  EXPECT_EQ(got.near.by_row, wanted.near.by_row);
  EXPECT_EQ(got.near.by_slice, wanted.near.by_slice);
  EXPECT_EQ(got.near.by_window, wanted.near.by_window);
  EXPECT_EQ(got.blocks, wanted.blocks);
  ASSERT_EQ(got.estimates.size(), wanted.estimates.size());
  for (std::size_t k = 0; k < got.estimates.size(); ++k) {
    EXPECT_EQ(got.estimates[k].format, wanted.estimates[k].format);
    EXPECT_EQ(got.estimates[k].number, wanted.estimates[k].number);
  }
}

void expect_same(const features& got, const features& wanted) {
  EXPECT_EQ(got.rows, wanted.rows);
  EXPECT_EQ(got.more_columns, wanted.more_columns);
  EXPECT_EQ(got.nnz, wanted.nnz);
  EXPECT_EQ(got.longest_row, wanted.longest_row);
  EXPECT_EQ(got.symmetric, wanted.symmetric);
  EXPECT_EQ(got.zero_diagonal, wanted.zero_diagonal);
  EXPECT_EQ(got.negative_diagonal, wanted.negative_diagonal);
  EXPECT_EQ(got.small_diagonal, wanted.small_diagonal);
  EXPECT_EQ(got.dominant, wanted.dominant);
  EXPECT_EQ(got.scales, wanted.scales);
  EXPECT_EQ(got.diagonals, wanted.diagonals);
}

TYPED_TEST(gpu_path, statistics_and_features_are_those_of_the_host) {
  using V = TypeParam;
  for (const auto& m : matrices()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<V>(m.a);
    const matrix_source<V> source(a, this->gpu);
    ASSERT_TRUE(source.has_rows());
    const stats wanted = measure(a);
    for (int turn = 0; turn < 2; ++turn) {
      const stats got = measure(source.rows(), look_at_rows(source.rows()));
      expect_same(got, wanted);
      expect_same(features_of(source, got, false), features_of(a, wanted, false));
    }
    EXPECT_EQ(source.is_symmetric(), is_symmetric(a));
    if (a.shape.rows == a.shape.cols) // others are refused before
      EXPECT_EQ(kit::said_by([&] { source.check_symmetry(); }), kit::said_by([&] { check_symmetry(a); }));
  }
}

/// Rows by f(row, put), where put(column, value) comes by ascending columns.
template <class F> coo<double> by_rows(shape2 shape, F f) {
  std::vector<std::int32_t> row, col;
  std::vector<double> val;
  for (index_t i = 0; i < shape.rows; ++i)
    f(i, [&](index_t j, double v) {
      row.push_back(static_cast<std::int32_t>(i));
      col.push_back(static_cast<std::int32_t>(j));
      val.push_back(v);
    });
  const auto count = std::ssize(row);
  coo<double> a{shape, host_array<std::int32_t>(count), host_array<std::int32_t>(count), host_array<double>(count)};
  std::ranges::copy(row, a.row.begin());
  std::ranges::copy(col, a.col.begin());
  std::ranges::copy(val, a.val.begin());
  return a;
}

/// Matrices that leave the ways that most take.
std::vector<kit::named_matrix> rare() {
  std::vector<kit::named_matrix> all;
  const auto value = [](index_t i, index_t j) { return 1 + double((i * 31 + j * 17) % 1000) / 1024; };
  // More long rows than come home with the counts, and slices of more entries than a table has room for.
  all.push_back({"hubs", by_rows({3000, 300'000}, [&](index_t i, auto put) {
                   const index_t count = i % 7 == 3 ? 1024 + 3 * i : i % 4;
                   for (index_t k = 0; k < count; ++k) put(k * (299'000 / count) + i % 97, value(i, k));
                 })});
  // Windows of diagonals that hold a part of a slice each, and zeros in them; more long rows in a window of rows than
  // are compared with each other.
  all.push_back({"all rows long", by_rows({2500, 200'000}, [&](index_t i, auto put) {
                   const index_t count = 1024 + i % 50;
                   for (index_t k = 0; k < count; ++k)
                     put(k * 180 + (i % 16 < 9 ? i : (i * 7919) % 170), (i + k) % 6 == 2 ? 0.0 : value(i, k));
                 })});
  all.push_back({"one full row", by_rows({2000, 70'000}, [&](index_t i, auto put) {
                   for (index_t j = 0; j < (i == 1234 ? 70'000 : 3); ++j) put(i == 1234 ? j : i + 7 * j, value(i, j));
                 })});
  all.push_back({"wide", by_rows({2100, 5'000'000}, [&](index_t i, auto put) {
                   for (index_t k = 0; k < 16; ++k) put(k * 312'000 + (i * 7919 + k * 104'729) % 300'000, value(i, k));
                 })});
  all.push_back({"frequent stencils", by_rows({4000, 4000}, [](index_t i, auto put) { put(i, double(1 + i % 600)); })});
  all.push_back(
      {"stencils of one row", by_rows({4000, 4000}, [](index_t i, auto put) { put(i, i % 2 ? double(i + 2) : 1.0); })});
  all.push_back({"zeros beside strips", by_rows({40'000, 40'000}, [](index_t i, auto put) {
                   for (index_t j = std::max<index_t>(0, i - 3); j < std::min<index_t>(40'000, i + 3); ++j)
                     put(j, (i + j) % 5 < 2 ? 0.0 : double(1 + j % 300));
                 })});
  all.push_back({"many lengths", by_rows({50'000, 50'000}, [&](index_t i, auto put) {
                   const index_t count = (i * i) % 23 + (i % 5000 == 0 ? 1500 : 0);
                   for (index_t k = 0; k < count; ++k) put((i % 90) + k * 32, value(i, k));
                 })});
  return all;
}

TYPED_TEST(gpu_path, statistics_of_rare_matrices_are_those_of_the_host) {
  using V = TypeParam;
  for (const auto& m : rare()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<V>(m.a);
    const matrix_source<V> source(a, this->gpu);
    const stats wanted = measure(a), got = source.measure();
    expect_same(got, wanted);
    if (a.shape.rows == a.shape.cols) expect_same(features_of(source, got, false), features_of(a, wanted, false));
  }
}

TYPED_TEST(gpu_path, statistics_of_what_is_not_finite_are_those_of_the_host) {
  using V = TypeParam;
  for (const V bad : {std::numeric_limits<V>::quiet_NaN(), std::numeric_limits<V>::infinity()}) {
    auto a = kit::as_precision<V>(kit::laplacian(40, 30));
    a.val[777] = bad;
    const auto rows = send_rows(a);
    expect_same(measure(rows, look_at_rows(rows)), measure(a));
  }
}

TYPED_TEST(gpu_path, values_are_told_apart_by_their_bits) {
  using V = TypeParam;
  using bits = typename few_values<V>::bits;
  for (const int n : {1, 2, 255, 256, 257, 5000}) {
    host_array<V> values(300'000);
    for (index_t k = 0; k < values.size(); ++k) values[k] = V(1 + double((k / 7) % n) * 0x1p-20);
    EXPECT_EQ(distinct_on_gpu(as_cview(gpu_array<V>(values))), distinct_values(as_cview(values))) << n;
  }
  host_array<V> odd{V(0), V(-0.0), std::bit_cast<V>(~bits(0)), std::bit_cast<V>(~bits(0) - 1), V(3)};
  const auto got = distinct_on_gpu(as_cview(gpu_array<V>(odd))), wanted = distinct_values(as_cview(odd));
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t k = 0; k < got.size(); ++k) EXPECT_EQ(std::bit_cast<bits>(got[k]), std::bit_cast<bits>(wanted[k]));
}

} // namespace
} // namespace furrow
