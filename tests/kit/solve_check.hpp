// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrices.hpp"
#include "truth.hpp"

#include <furrow/solve.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace furrow::kit {

template <class V> struct solved {
  solve_report report;
  host_array<V> x;
};

/// Solves and holds the report to the truth: whoever says converged has a small residual in long double, the relative
/// residual is the one that x has, the history has an element for every iteration and one more.
template <class V>
solved<V> solve_honestly(const coo<double>& matrix, const host_array<V>& b, const solve_options& options = {},
                         host_array<V> x = {}) {
  const coo<V> a = as_precision<V>(matrix);
  if (x.empty()) x = host_array<V>(b.size(), V(0));
  solved<V> result{solve(a, as_cview(b), as_view(x), options), std::move(x)};
  const auto& report = result.report;
  EXPECT_FALSE(report.message.empty());
  const residual truth = true_residual(a, as_cview(b), as_cview(result.x));
  if (report.why == status::converged) {
    const long double goal = std::max<long double>(options.rtol * truth.norm_b, options.atol);
    EXPECT_LE(truth.norm, goal * (1 + 1e-6L) + truth.rounding) << report.message;
  }
  if (!std::isfinite(report.relative_residual)) {
    EXPECT_EQ(report.why, status::nan) << report.message;
  } else if (truth.norm_b > 0 && std::isfinite(truth.norm)) {
    EXPECT_NEAR(report.relative_residual, static_cast<double>(truth.norm / truth.norm_b),
                static_cast<double>((truth.rounding + 1e-6L * truth.norm) / truth.norm_b))
        << report.message;
  }
  if (options.history && report.iterations > 0) {
    EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations + 1));
  }
  return result;
}

/// A x, rounded once.
template <class V> host_array<V> times(const coo<double>& a, const host_array<V>& x) {
  std::vector<long double> sum(static_cast<std::size_t>(a.shape.rows));
  for (index_t k = 0; k < a.nnz(); ++k)
    sum[static_cast<std::size_t>(a.row[k])] += static_cast<long double>(a.val[k]) * x[a.col[k]];
  host_array<V> y(a.shape.rows);
  for (index_t i = 0; i < y.size(); ++i) y[i] = static_cast<V>(sum[static_cast<std::size_t>(i)]);
  return y;
}

} // namespace furrow::kit
