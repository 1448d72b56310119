// SPDX-License-Identifier: BSD-3-Clause
#include "cuthill_mckee.hpp"
#include "permute.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

namespace furrow {
namespace {

index_t bandwidth(row_view<double> a) {
  index_t widest = 0;
  for (index_t i = 0; i < a.shape.rows; ++i)
    for (index_t k = a.begin(i); k < a.end(i); ++k) widest = std::max<index_t>(widest, std::abs(i - a.col[k]));
  return widest;
}

/// P A P' for a permutation drawn from a seed.
row_matrix<double> shuffled(const coo<double>& a, std::uint64_t seed) {
  kit::splitmix random(seed);
  host_array<std::int32_t> order(a.shape.rows);
  for (index_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  for (index_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.below(i + 1)]);
  auto place = inverse_permutation(as_cview(order));
  return arranged(rows_of_triplets<double>(a).view(), {std::move(order), std::move(place), {}, {}});
}

TEST(neighbours, are_those_of_the_row_and_the_column) {
  for (const auto& [name, a] : kit::battery()) {
    if (a.shape.rows != a.shape.cols) continue;
    std::vector<std::set<std::int32_t>> wanted(static_cast<std::size_t>(a.shape.rows));
    for (index_t k = 0; k < a.nnz(); ++k)
      if (a.row[k] != a.col[k]) wanted[a.row[k]].insert(a.col[k]), wanted[a.col[k]].insert(a.row[k]);
    const auto g = neighbours_of(rows_of_triplets<double>(a).view());
    for (index_t i = 0; i < a.shape.rows; ++i) {
      const std::vector<std::int32_t> got(g.col.data() + g.row_ptr[i], g.col.data() + g.row_ptr[i + 1]);
      ASSERT_EQ(got, std::vector<std::int32_t>(wanted[i].begin(), wanted[i].end())) << name << ' ' << i;
    }
  }
}

TEST(reverse_cuthill_mckee, brings_a_shuffled_grid_back_into_a_band) {
  const auto a = shuffled(kit::laplacian(40, 12), 3);
  auto order = reverse_cuthill_mckee(neighbours_of(a.view()));
  auto place = inverse_permutation(as_cview(order));
  const auto b = arranged(a.view(), {std::move(order), std::move(place), {}, {}});
  EXPECT_GT(bandwidth(a.view()), 300);
  EXPECT_LE(bandwidth(b.view()), 14); // 12 in the best of orders
}

TEST(reverse_cuthill_mckee, orders_every_row_once) {
  for (const auto& [name, a] : kit::battery()) {
    if (a.shape.rows != a.shape.cols) continue;
    const auto order = reverse_cuthill_mckee(neighbours_of(rows_of_triplets<double>(a).view()));
    ASSERT_EQ(std::set<std::int32_t>(order.begin(), order.end()).size(), std::size_t(a.shape.rows)) << name;
  }
}

TEST(arranged, moves_and_scales_rows_and_columns) {
  const auto a = kit::assemble({3, 3}, {{0, 0, 1}, {0, 2, 2}, {1, 1, 3}, {2, 0, 4}, {2, 1, 5}});
  const auto b = arranged(rows_of_triplets<double>(a).view(), {{2, 0, 1}, {1, 2, 0}, {2, 3, 5}, {7, 1, 1}});
  EXPECT_EQ(std::vector<index_t>(b.row_ptr.begin(), b.row_ptr.end()), (std::vector<index_t>{0, 2, 4, 5}));
  EXPECT_EQ(std::vector<std::int32_t>(b.col.begin(), b.col.end()), (std::vector<std::int32_t>{1, 2, 0, 1, 2}));
  EXPECT_EQ(std::vector<double>(b.val.begin(), b.val.end()), (std::vector<double>{140, 25, 4, 14, 9}));
}

} // namespace
} // namespace furrow
