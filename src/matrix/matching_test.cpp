// SPDX-License-Identifier: BSD-3-Clause
#include "matching.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/generate.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace furrow {
namespace {

/// A n x n matrix with about a third of its places filled, values over `decades` powers of ten.
coo<double> sparse(index_t n, std::uint64_t seed, double decades) {
  kit::splitmix random(seed);
  return kit::from_function(n, [&](index_t, index_t) {
    const double v = random.value(), size = random.unit();
    return random.below(3) == 0 ? v * std::pow(10.0, decades * (size - 0.5)) : 0.0;
  });
}

/// log10 of the largest product of a permutation, and the most entries that one can have: all permutations are tried.
struct best {
  index_t rank = 0;
  long double product = 0;
};
best by_force(const coo<double>& a) {
  const index_t n = a.shape.rows;
  std::vector<double> dense(static_cast<std::size_t>(n * n), 0.0);
  for (index_t k = 0; k < a.nnz(); ++k) dense[a.row[k] * n + a.col[k]] = std::abs(a.val[k]);
  std::vector<index_t> column(static_cast<std::size_t>(n));
  std::iota(column.begin(), column.end(), 0);
  best found;
  do {
    best here;
    for (index_t i = 0; i < n; ++i)
      if (const double v = dense[i * n + column[i]]; v > 0) ++here.rank, here.product += std::log10(v);
    if (here.rank > found.rank || (here.rank == found.rank && here.product > found.product)) found = here;
  } while (std::ranges::next_permutation(column).found);
  return found;
}

/// Holds pairs and scales to what is promised of them; returns log10 of the product of the pairs.
long double keeps_its_promises(const coo<double>& a, const heavy_diagonal& h) {
  const index_t n = a.shape.rows;
  std::vector<bool> taken(static_cast<std::size_t>(n));
  for (index_t j = 0; j < n; ++j) {
    EXPECT_FALSE(taken[h.row_of[j]]) << "row " << h.row_of[j] << " twice";
    taken[h.row_of[j]] = true;
  }
  index_t pairs = 0;
  long double product = 0;
  for (index_t k = 0; k < a.nnz(); ++k) {
    const double scaled = h.row_scale[a.row[k]] * std::abs(a.val[k]) * h.col_scale[a.col[k]];
    EXPECT_LE(scaled, 1 + 1e-11) << "entry " << k;
    if (h.row_of[a.col[k]] != a.row[k] || a.val[k] == 0) continue;
    ++pairs;
    product += std::log10(std::abs(a.val[k]));
    if (h.rank == n) {
      EXPECT_NEAR(scaled, 1, 1e-11) << "pair " << k;
    }
  }
  EXPECT_EQ(pairs, h.rank);
  return product;
}

TEST(heavy_diagonal, has_the_largest_product_of_all_permutations) {
  int complete = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto a = sparse(7, seed, seed % 2 ? 2 : 30);
    const auto h = match_heavy_diagonal(rows_of_triplets<double>(a).view());
    const auto force = by_force(a);
    ASSERT_EQ(h.rank, force.rank) << seed;
    const auto product = keeps_its_promises(a, h);
    if (h.rank < 7) continue;
    ++complete;
    ASSERT_NEAR(double(product), double(force.product), 1e-9) << seed;
  }
  EXPECT_GT(complete, 20);
}

TEST(heavy_diagonal, finds_a_permutation_that_was_hidden) {
  const index_t n = 3000;
  kit::splitmix random(5);
  std::vector<std::int32_t> hidden(n);
  std::iota(hidden.begin(), hidden.end(), 0);
  for (index_t i = n - 1; i > 0; --i) std::swap(hidden[i], hidden[random.below(i + 1)]);
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < n; ++i) {
    entries.push_back({i, hidden[i], 10});
    for (int k = 0; k < 4; ++k)
      if (const index_t j = random.below(n); j != hidden[i]) entries.push_back({i, j, random.unit()});
  }
  const auto a = kit::assemble({n, n}, entries);
  const auto h = match_heavy_diagonal(rows_of_triplets<double>(a).view());
  keeps_its_promises(a, h);
  for (index_t i = 0; i < n; ++i) ASSERT_EQ(h.row_of[hidden[i]], i);
}

TEST(heavy_diagonal, says_that_a_matrix_is_structurally_singular) {
  const auto a = kit::assemble({4, 4}, {{0, 0, 1}, {1, 0, 2}, {2, 0, 3}, {2, 1, 1}, {3, 3, 5}, {3, 2, 0}});
  const auto h = match_heavy_diagonal(rows_of_triplets<double>(a).view());
  EXPECT_EQ(h.rank, 3);     // the entry of column 3 is a stored zero
  EXPECT_EQ(h.unpaired, 1); // rows 0 and 1 have column 0 alone
  keeps_its_promises(a, h);
  const auto none = match_heavy_diagonal(rows_of_triplets<double>(kit::assemble({3, 3}, {})).view());
  EXPECT_EQ(none.rank, 0);
  EXPECT_EQ(match_heavy_diagonal(rows_of_triplets<double>(kit::assemble({0, 0}, {})).view()).rank, 0);
}

/// Pairs that there can be, by paths of alternating entries from each row.
index_t most_pairs(const coo<double>& a) {
  const rows_of_triplets<double> rows(a);
  const auto v = rows.view();
  std::vector<index_t> row_of(a.shape.cols, -1), seen(a.shape.cols, -1);
  index_t pairs = 0;
  for (index_t root = 0; root < a.shape.rows; ++root) {
    const std::function<bool(index_t)> goes_on = [&](index_t i) {
      for (index_t k = v.begin(i); k < v.end(i); ++k) {
        const index_t j = v.col[k];
        if (std::exchange(seen[j], root) == root) continue;
        if (row_of[j] < 0 || goes_on(row_of[j])) return row_of[j] = i, true;
      }
      return false;
    };
    pairs += goes_on(root);
  }
  return pairs;
}

TEST(heavy_diagonal, leaves_what_leads_nowhere_and_keeps_its_promises) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const index_t n = 300;
    kit::splitmix random(seed);
    std::vector<kit::triplet> entries;
    for (index_t i = 0; i < n; ++i) // rows of few columns, and of any
      for (int k = 0; k < 3; ++k) entries.push_back({i, random.below(i % 3 ? n / 3 : n), std::exp(20 * random.unit())});
    const auto a = kit::assemble({n, n}, entries);
    const auto h = match_heavy_diagonal(rows_of_triplets<double>(a).view());
    ASSERT_EQ(h.rank, most_pairs(a));
    ASSERT_LT(h.rank, n - 50);
    keeps_its_promises(a, h);
  }
}

TEST(heavy_diagonal, looks_up_and_does_not_walk_over_all_of_it_for_each_row_without_a_pair) {
  const index_t n = 20000;
  kit::splitmix random(3);
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < n; ++i)
    for (int k = 0; k < 5; ++k) entries.push_back({i, random.below(n / 2), random.unit()});
  const auto a = kit::assemble({n, n}, entries);
  index_t looks = 0;
  const auto h = match_heavy_diagonal(rows_of_triplets<double>(a).view(), [&] { ++looks; });
  EXPECT_EQ(h.rank, n / 2);
  EXPECT_GT(looks, 0);
  EXPECT_LT(looks, 100) << "millions of entries"; // 20 passes over 100,000 entries, and the paths that were found
  struct enough {};
  EXPECT_THROW(match_heavy_diagonal(rows_of_triplets<double>(a).view(), [] { throw enough{}; }), enough);
}

TEST(heavy_diagonal, takes_few_passes_over_rows_by_a_power_law) {
  const auto a = generate("powerlaw:50000:16:2.2").a;
  index_t looks = 0; // one a million entries, of which a pass takes 0.7
  const auto h = match_heavy_diagonal(rows_of_triplets<double>(a).view(), [&] { ++looks; });
  EXPECT_EQ(h.rank, 50000);
  // The optimum as paths one by one find it, which take 49 looks in place of 22.
  EXPECT_NEAR(double(keeps_its_promises(a, h)), -7707.367868372, 1e-6);
  EXPECT_LT(looks, 35);
}

TEST(heavy_diagonal, takes_few_passes_where_a_full_row_leads_to_all_columns_that_are_free) {
  const index_t points = 1500, powers = 10; // fitted by least squares: [s I, A; A', 0], rows and columns scaled
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < points; ++i) {
    const double scale = i < points / 2 ? 2 : 1;
    entries.push_back({i, i, 0.032 * scale});
    for (index_t j = 0; j < powers; ++j) {
      const double x = 0.83 * std::pow(0.953 + 0.0953 * double(i) / double(points), double(j));
      entries.push_back({i, points + j, j < powers / 3 ? 2 * x : x});
      entries.push_back({points + j, i, x * scale});
    }
  }
  const auto a = kit::assemble({points + powers, points + powers}, entries);
  index_t looks = 0; // one a million entries: 240 by rounds that find a row each
  const auto h = match_heavy_diagonal(rows_of_triplets<double>(a).view(), [&] { ++looks; });
  EXPECT_EQ(h.rank, points + powers);
  keeps_its_promises(a, h);
  EXPECT_LT(looks, 40);
}

TEST(heavy_diagonal, undoes_bad_scales) {
  const auto a = kit::from_function(
      30, [](index_t i, index_t j) { return (i + j) % 3 ? std::pow(10.0, double(3 * i - 2 * j)) : 0.0; });
  const auto h = match_heavy_diagonal(rows_of_triplets<double>(a).view());
  EXPECT_EQ(h.rank, 30);
  keeps_its_promises(a, h);
}

} // namespace
} // namespace furrow
