// SPDX-License-Identifier: BSD-3-Clause
#include "second_look.hpp"

#include "kit/hilbert.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/solve_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace furrow {
namespace {

using wide = long double;

/// A^-1 b by elimination with the largest pivots of all, in long double.
std::vector<wide> exact_solution(const coo<double>& a, const host_array<double>& b) {
  const auto n = std::size_t(a.shape.rows);
  std::vector<std::vector<wide>> m(n, std::vector<wide>(n + 1, 0));
  for (index_t k = 0; k < a.nnz(); ++k) m[std::size_t(a.row[k])][std::size_t(a.col[k])] += a.val[k];
  std::vector<std::size_t> at(n);
  for (std::size_t i = 0; i < n; ++i) {
    at[i] = i;
    wide most = 0; // rows in units of their own
    for (std::size_t j = 0; j < n; ++j) most = std::max(most, std::abs(m[i][j]));
    m[i][n] = b[index_t(i)];
    for (wide& v : m[i]) v /= most;
  }
  for (std::size_t j = 0; j < n; ++j) {
    std::size_t row = j, col = j;
    for (std::size_t r = j; r < n; ++r)
      for (std::size_t c = j; c < n; ++c)
        if (std::abs(m[r][c]) > std::abs(m[row][col])) row = r, col = c;
    std::swap(m[row], m[j]);
    std::swap(at[col], at[j]);
    for (auto& r : m) std::swap(r[col], r[j]);
    for (std::size_t r = j + 1; r < n; ++r) {
      const wide by = m[r][j] / m[j][j];
      if (by == 0) continue;
      for (std::size_t c = j; c <= n; ++c) m[r][c] -= by * m[j][c];
    }
  }
  std::vector<wide> y(n), x(n);
  for (std::size_t j = n; j-- > 0;) {
    y[j] = m[j][n];
    for (std::size_t c = j + 1; c < n; ++c) y[j] -= m[j][c] * y[c];
    y[j] /= m[j][j];
    x[at[j]] = y[j];
  }
  return x;
}

/// The largest error of x beside its largest element.
double error_of(const coo<double>& a, const host_array<double>& b, const host_array<double>& x) {
  const auto exact = exact_solution(a, b);
  wide off = 0, most = 0;
  for (index_t i = 0; i < b.size(); ++i) {
    off = std::max(off, std::abs(exact[std::size_t(i)] - x[i]));
    most = std::max(most, std::abs(wide(x[i])));
  }
  return double(off / most);
}

double residual_of(const coo<double>& a, const host_array<double>& b, const host_array<double>& x) {
  std::vector<wide> r(b.begin(), b.end());
  wide left = 0, of_b = 0;
  for (index_t k = 0; k < a.nnz(); ++k) r[std::size_t(a.row[k])] -= wide(a.val[k]) * x[a.col[k]];
  for (index_t i = 0; i < b.size(); ++i) left += r[std::size_t(i)] * r[std::size_t(i)], of_b += wide(b[i]) * b[i];
  return double(std::sqrt(left / of_b));
}

solve_report look_at(const coo<double>& a, const host_array<double>& b, const host_array<double>& x) {
  solve_report report;
  report.why = status::converged, report.relative_residual = residual_of(a, b, x);
  const auto facts = look_by_factors(a, as_cview(b), as_cview(x), 1e9, report.relative_residual);
  EXPECT_TRUE(facts && !facts->singular);
  put_into(report, facts.value_or(factor_facts{}));
  return report;
}

/// D A E.
coo<double> in_units(coo<double> a, const host_array<double>& row, const host_array<double>& col) {
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] *= row[a.row[k]] * col[a.col[k]];
  return a;
}
/// Powers of two from 10^-span to 10^span.
host_array<double> powers(index_t n, double span, unsigned seed) {
  auto d = kit::random_vector<double>(n, seed);
  for (double& v : d) v = std::exp2(std::round(v * span * std::log2(10.0)));
  return d;
}
coo<double> shifted(coo<double> a, double by) {
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] -= by;
  return a;
}

/// In any units, graded, near singular, and Hilbert's.
std::vector<coo<double>> matrices_of_any_condition() {
  const index_t n = 48;
  const auto grid = kit::laplacian(6, 8);
  const double pi = std::acos(-1.0), least = 4 - 2 * std::cos(pi / 7) - 2 * std::cos(pi / 9);
  const host_array<double> same(n, 1.0);
  std::vector<coo<double>> all;
  for (const double span : {4.0, 8.0, 12.0}) {
    const auto d = powers(n, span, 3), e = powers(n, span, 4);
    for (const auto& [row, col] : {std::pair(d, d), std::pair(d, same), std::pair(same, d), std::pair(d, e)})
      all.push_back(in_units(grid, row, col));
  }
  for (const double by : {1.5, 8.0, 100.0})
    all.push_back(kit::from_function(n / 2, [=](index_t i, index_t j) {
      return std::pow(by, -double(std::max(i, j))) * (1 + 0.5 * std::sin(double(7 * i + 3 * j + i * j)));
    }));
  const auto d = powers(n, 6, 5);
  for (const double near : {1e-6, 1e-10, 1e-13}) {
    all.push_back(shifted(grid, least * (1 - near)));
    all.push_back(in_units(all.back(), d, d));
  }
  for (const index_t rows : {4, 8, 10, 12, 14}) all.push_back(kit::hilbert(rows));
  return all;
}

/// Ones, at random, and in units that make all of A x as large.
host_array<double> some_x(const coo<double>& a, unsigned seed) {
  auto x = kit::random_vector<double>(a.shape.cols, seed);
  host_array<double> size(x.size(), 0.0);
  for (index_t k = 0; k < a.nnz(); ++k) size[a.col[k]] = std::max(size[a.col[k]], std::abs(a.val[k]));
  for (index_t i = 0; i < x.size(); ++i) x[i] = seed % 3 == 0 ? 1 : seed % 3 == 1 ? x[i] : (2 + x[i]) / size[i];
  return x;
}

host_array<double> moved(host_array<double> x, double by, unsigned seed) {
  const auto noise = kit::random_vector<double>(x.size(), seed);
  for (index_t i = 0; i < x.size(); ++i) x[i] *= 1 + by * noise[i];
  return x;
}

void expect_no_silence(const solve_report& told, double error) {
  EXPECT_GE(10 * told.error_estimate, std::min(error, 0.1)) << "an error of " << error;
  EXPECT_EQ(told.warning.empty(), told.error_estimate <= 0.01);
  EXPECT_TRUE(error < 0.01 || !told.warning.empty()) << "an error of " << error;
}

TEST(error_estimates, raise_no_alarm_over_unknowns_in_units_of_their_own) {
  for (const double span : {8.0, 12.0})
    for (const unsigned seed : {1u, 2u, 3u}) {
      SCOPED_TRACE(testing::Message() << span << ' ' << seed);
      const auto d = powers(63, span, seed);
      const auto a = in_units(kit::laplacian(7, 9), d, d);
      const auto b = kit::times(a, some_x(a, 2));
      solve_options o;
      for (const char* solver : {"cg", "direct"}) {
        o.solver = solver;
        host_array<double> x(63, 0.0);
        const auto r = solve(a, as_cview(b), as_view(x), o);
        ASSERT_EQ(r.why, status::converged) << r.message;
        const auto told = o.solver == "direct" ? r : look_at(a, b, x);
        const double error = error_of(a, b, x);
        EXPECT_GE(10 * told.error_estimate, error) << solver;
        EXPECT_LT(told.error_estimate, 100 * error + 1e-10) << solver;
        EXPECT_GT(told.condition_estimate, 1e16);
        EXPECT_EQ(told.warning, "") << solver;
      }
    }
}

TEST(error_estimates, by_factors_are_no_less_than_a_tenth_of_the_error) {
  int warned = 0;
  for (const auto& a : matrices_of_any_condition())
    for (unsigned seed = 0; seed < 6; ++seed)
      for (const double off : {0.0, 1e-15, 1e-9}) {
        const auto x = some_x(a, seed), b = kit::times(a, x), beside = moved(x, off, seed + 50);
        const auto told = look_at(a, b, beside);
        expect_no_silence(told, error_of(a, b, beside));
        warned += !told.warning.empty();
      }
  EXPECT_GT(warned, 100);
}

TEST(error_estimates, of_refinement_are_no_less_than_a_tenth_of_the_error) {
  int warned = 0;
  solve_options o;
  o.solver = "direct";
  for (const auto& a : matrices_of_any_condition())
    for (unsigned seed = 0; seed < 6; ++seed)
      for (const double off : {1.0, 1e-9}) {
        const auto right = some_x(a, seed), b = kit::times(a, right);
        auto x = moved(right, off, seed + 50);
        const auto told = solve(a, as_cview(b), as_view(x), o);
        if (told.why != status::converged) continue;

        expect_no_silence(told, error_of(a, b, x));
        warned += !told.warning.empty();
      }

  EXPECT_GT(warned, 50);
}

} // namespace
} // namespace furrow
