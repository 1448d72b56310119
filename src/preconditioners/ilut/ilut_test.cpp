// SPDX-License-Identifier: BSD-3-Clause
#include "threshold.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace furrow {
namespace {

using ilut_preconditioner::factorise_by_threshold;

/// Dense, nonsymmetric, with a strong diagonal and others of all sizes down to 1e-6.
coo<double> dense(index_t n) {
  kit::splitmix random(9);
  return kit::from_function(n, [&](index_t i, index_t j) {
    const double v = random.value() * std::pow(10.0, -6 * random.unit());
    return i == j ? 10 + v : v;
  });
}

TEST(ilut_factors, are_exact_where_nothing_is_dropped) {
  const index_t n = 40;
  for (const auto& a : {dense(n), kit::laplacian(8, 5)}) {
    const auto f = factorise_by_threshold(rows_of_triplets<double>(a).view(), n, 0);
    std::vector<long double> left(static_cast<std::size_t>(n * n), 0);
    for (index_t k = 0; k < a.nnz(); ++k) left[a.row[k] * n + a.col[k]] = a.val[k];
    for (index_t i = 0; i < n; ++i)
      for (index_t e = f.rows.row_ptr[i]; e <= f.pivot[i]; ++e) {
        const index_t k = f.rows.col[e];
        const long double factor = e == f.pivot[i] ? 1 : static_cast<long double>(f.rows.val[e]);
        for (index_t u = f.pivot[k]; u < f.rows.row_ptr[k + 1]; ++u)
          left[i * n + f.rows.col[u]] -= factor * f.rows.val[u];
      }
    for (const long double v : left) ASSERT_LT(std::abs(v), 1e-14L);
  }
}

TEST(ilut_factors, keep_no_more_than_is_allowed_and_nothing_small) {
  const index_t n = 60, fill = 3;
  const double drop = 1e-2;
  kit::splitmix random(2);
  const auto a = kit::from_function(n, [&](index_t i, index_t j) {
    const double v = random.value();
    return i == j ? 5.0 : random.below(10) == 0 ? v : 0.0;
  });
  const auto rows = rows_of_triplets<double>(a);
  const auto f = factorise_by_threshold(rows.view(), fill, drop);
  index_t longest_fill = 0;
  for (index_t i = 0; i < n; ++i) {
    index_t below = 0, above = 0;
    double squares = 0;
    for (index_t k = rows.view().begin(i); k < rows.view().end(i); ++k) {
      below += a.col[k] < i;
      above += a.col[k] > i;
      squares += a.val[k] * a.val[k];
    }
    ASSERT_LE(f.pivot[i] - f.rows.row_ptr[i], below + fill);
    ASSERT_LE(f.rows.row_ptr[i + 1] - f.pivot[i] - 1, above + fill);
    longest_fill = std::max(longest_fill, f.rows.row_ptr[i + 1] - f.pivot[i] - 1 - above);
    ASSERT_EQ(f.rows.col[f.pivot[i]], i);
    for (index_t e = f.rows.row_ptr[i]; e + 1 < f.rows.row_ptr[i + 1]; ++e) ASSERT_LT(f.rows.col[e], f.rows.col[e + 1]);
    for (index_t e = f.pivot[i] + 1; e < f.rows.row_ptr[i + 1]; ++e)
      ASSERT_GE(std::abs(f.rows.val[e]), drop * std::sqrt(squares));
  }
  EXPECT_EQ(longest_fill, fill); // the bound was met
}

} // namespace
} // namespace furrow
