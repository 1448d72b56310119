// SPDX-License-Identifier: BSD-3-Clause
// Two searches for norms together, against each by itself.
#include "condition.hpp"
#include "factors.hpp"
#include "inverse.hpp"
#include "norm_estimate.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace furrow {
namespace {

coo<double> random_matrix(index_t n, unsigned seed) {
  const auto r = kit::random_vector<double>(n * n, seed);
  return kit::from_function(n, [&](index_t i, index_t j) { return r[i * n + j] + (i == j ? 1.5 : 0.0); });
}

std::vector<double> row_sums(const coo<double>& a) {
  std::vector<double> sums(std::size_t(a.shape.rows), 0.0);
  for (index_t k = 0; k < a.nnz(); ++k) sums[std::size_t(a.row[k])] += std::abs(a.val[k]);
  return sums;
}

double norm_1(const coo<double>& a) {
  std::vector<double> sums(std::size_t(a.shape.rows), 0.0);
  for (index_t k = 0; k < a.nnz(); ++k) sums[std::size_t(a.col[k])] += std::abs(a.val[k]);
  return *std::ranges::max_element(sums);
}

TEST(lu_condition, is_that_of_two_searches_by_themselves_for_half_the_passes) {
  int passes = 0, products = 0;
  for (const index_t n : {1, 2, 3, 8, 30, 60})
    for (unsigned seed = 0; seed < 10; ++seed) {
      const auto a = random_matrix(n, seed);
      lu::columns c{n, host_array<std::int32_t>(n + 1), host_array<std::int32_t>(n * n), host_array<double>(n * n)};
      for (index_t j = 0; j <= n; ++j) c.begin[j] = std::int32_t(j * n);
      for (index_t k = 0; k < a.nnz(); ++k)
        c.row[a.col[k] * n + a.row[k]] = a.row[k], c.val[a.col[k] * n + a.row[k]] = a.val[k];
      const auto f = lu::factor_dense(c);
      const auto known = lu::condition_of(a, [&](double* x, double* y, bool transposed) {
        ++passes;
        f->solve(x, transposed);
        if (y) f->solve(y, transposed);
      });
      const auto solve = [&](double* x, bool transposed) { ++products, f->solve(x, transposed); };
      const auto d = row_sums(a);
      const auto by_rows = [&](double* x) {
        for (index_t i = 0; i < n; ++i) x[i] *= d[std::size_t(i)];
      };
      EXPECT_EQ(known.norm_1,
                norm_1(a) * lu::norm_1_estimate(
                                n, [&](double* x) { solve(x, false); }, [&](double* x) { solve(x, true); }))
          << n << ' ' << seed;
      EXPECT_EQ(known.skeel,
                lu::norm_1_estimate(
                    n, [&](double* x) { solve(x, true), by_rows(x); }, [&](double* x) { by_rows(x), solve(x, false); }))
          << n << ' ' << seed;
    }
  EXPECT_LT(passes, 0.65 * products);
}

/// An inverse that overflows is told as such, and ends both searches.
TEST(lu_condition, may_be_infinite) {
  const auto a = kit::diagonal({1e-300, 1, 1});
  const auto known = lu::condition_of(a, [](double* x, double* y, bool) {
    for (double* v : {x, y})
      if (v) v[0] *= 1e300, v[0] *= 1e300;
  });
  EXPECT_TRUE(std::isinf(known.norm_1));
}

#if FURROW_HAS_SUPERLU
/// D (L - 0.3 I) D with D = 1e-12 to 1e12: pivots leave an error of 1e-12 in any units, which is little beside a
/// condition number of 1e7 there.
TEST(lu_condition, is_not_blurred_by_pivots_that_are_no_largest_ones) {
  const index_t n = 70 * 70;
  auto a = kit::laplacian(70, 70);
  for (const unsigned seed : {19u, 24u, 37u}) {
    auto scaled = a;
    auto d = kit::random_vector<double>(n, seed);
    for (double& v : d) v = std::pow(10.0, 12 * v);
    for (index_t k = 0; k < a.nnz(); ++k)
      scaled.val[k] = (a.val[k] - (a.row[k] == a.col[k] ? 0.3 : 0)) * d[a.row[k]] * d[a.col[k]];
    const lu::inverse<double> f(scaled, "");
    EXPECT_GT(f.condition().skeel, 1e20);
    EXPECT_FALSE(f.is_blurred()) << seed;
  }
}
#endif

} // namespace
} // namespace furrow
