// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/furrow.hpp>

#include <gtest/gtest.h>

namespace furrow {
namespace {

coo<double> laplacian_2d(index_t n) {
  coo<double> a{{n * n, n * n},
                host_array<std::int32_t>(5 * n * n),
                host_array<std::int32_t>(5 * n * n),
                host_array<double>(5 * n * n)};
  index_t k = 0;
  const auto put = [&](index_t r, index_t c, double v) {
    a.row[k] = static_cast<std::int32_t>(r);
    a.col[k] = static_cast<std::int32_t>(c);
    a.val[k++] = v;
  };
  for (index_t y = 0; y < n; ++y)
    for (index_t x = 0; x < n; ++x) {
      const index_t i = y * n + x;
      if (y) put(i, i - n, -1);
      if (x) put(i, i - 1, -1);
      put(i, i, 4);
      if (x + 1 < n) put(i, i + 1, -1);
      if (y + 1 < n) put(i, i + n, -1);
    }
  a.row.resize(k);
  a.col.resize(k);
  a.val.resize(k);
  return a;
}

TEST(solve, laplacian_by_every_format_and_preconditioner) {
  for (const auto* f : formats())
    for (const auto& m : preconditioners()) {
      auto a = laplacian_2d(100);
      host_array<double> b(a.shape.rows, 1.0), x(a.shape.rows, 0.0);
      solve_options o;
      o.format = std::string(f->name);
      o.precond = std::string(m.name);
      const auto report = solve(a, as_cview(b), as_view(x), o);
      EXPECT_EQ(name(report.why), "converged") << report.message;
      EXPECT_LE(report.relative_residual, 1e-8);
      EXPECT_GT(report.iterations, 50);
      EXPECT_LT(report.iterations, 300);
      EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations + 1));
    }
}

} // namespace
} // namespace furrow
