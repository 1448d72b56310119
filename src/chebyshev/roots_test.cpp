// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/chebyshev.hpp>
#include <furrow/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace furrow::chebyshev {
namespace {

using function = std::function<double(double)>;

void expect_roots(const series& p, const std::vector<double>& wanted, double tolerance) {
  const auto found = roots(p);
  ASSERT_EQ(found.size(), static_cast<index_t>(wanted.size()));
  for (index_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[static_cast<std::size_t>(i)], tolerance) << i;
}

series with_roots(const std::vector<double>& at, interval on) {
  series p{{1}, on};
  for (const double r : at) p = p * from_monomials(as_cview(host_array<double>{-r, 1}), on);
  return p;
}

TEST(chebyshev_roots, of_the_chebyshev_polynomials_themselves) {
  for (const index_t n : {1, 2, 3, 10, 49, 50, 51, 52, 200, 1000}) {
    series t{host_array<double>(n + 1, 0.0), {}};
    t.coefficients[n] = 1;
    std::vector<double> wanted;
    for (const double x : points(kind::first, n)) wanted.push_back(x);
    SCOPED_TRACE(n);
    expect_roots(t, wanted, 1e-15);
  }
}

TEST(chebyshev_roots, of_a_polynomial_of_wilkinson) {
  std::vector<double> wanted;
  for (int k = 1; k <= 20; ++k) wanted.push_back(k);
  // Rounding of the coefficients alone moves the middle roots by 4e-11; in powers of x it moves them by whole numbers.
  expect_roots(with_roots(wanted, {0.5, 20.5}), wanted, 1e-8);
}

TEST(chebyshev_roots, of_oscillating_functions) {
  std::vector<double> wanted;
  for (int k = 1; k <= 318; ++k) wanted.push_back(k * std::numbers::pi / 1000);
  const series p = fit(function([](double x) { return std::sin(1000 * x); }), {1e-3, 1});
  expect_roots(p, wanted, 1e-15);
  // Airy-like: sin(x^2) on [1, 10]
  std::vector<double> chirp;
  for (int k = 1; k * std::numbers::pi < 100; ++k) chirp.push_back(std::sqrt(k * std::numbers::pi));
  expect_roots(fit(function([](double x) { return std::sin(x * x); }), {1, 10}), chirp, 1e-14);
}

TEST(chebyshev_roots, of_bessel_functions) {
  const auto found = roots(fit(function([](double x) { return std::cyl_bessel_j(0, x); }), {0, 100}));
  ASSERT_EQ(found.size(), 32);
  EXPECT_NEAR(found[0], 2.404825557695773, 1e-13);
  EXPECT_NEAR(found[31], 99.74681985868060, 1e-12);
}

TEST(chebyshev_roots, of_rounding_errors_do_not_count) {
  for (const double c : {10., 50., 400., 4000.}) // e^-c and less far from 0
    EXPECT_EQ(roots(fit(function([c](double x) { return std::exp(-c * x * x); }), {-1, 1})).size(), 0) << c;
  const series p = fit(function([](double x) { return x * std::exp(-400 * x * x); }), {-1, 1});
  expect_roots(p, {0}, 1e-15);
}

TEST(chebyshev_roots, at_the_ends_and_outside) {
  expect_roots(with_roots({-1, 1}, {-1, 1}), {-1, 1}, 1e-15);
  expect_roots(with_roots({3, 0.25}, {-1, 1}), {0.25}, 1e-15);
  expect_roots({{1, 0, 0.5}, {}}, {}, 0);   // 1/2 + t^2
  expect_roots({{1.5, 0, 0.5}, {}}, {}, 0); // 1 + t^2
  expect_roots({{1}, {}}, {}, 0);
}

TEST(chebyshev_roots, that_are_equally_spaced) {
  expect_roots(fit(function([](double x) { return x * x * x - x; }), {-2, 2}), {-1, 0, 1}, 1e-15);
  expect_roots(with_roots({1, 2, 3, 4}, {0, 5}), {1, 2, 3, 4}, 1e-14);
}

TEST(chebyshev_roots, at_the_ends_of_what_is_no_polynomial) {
  expect_roots(fit(function([](double x) { return std::log(x); }), {1, 10}), {1}, 0);
  expect_roots(fit(function([](double x) { return std::sqrt(x) - 3; }), {1, 9}), {9}, 0);
  EXPECT_EQ(roots(fit(function([](double x) { return std::sin(1000 * x); }), {0, 1})).size(), 319);
  for (double c = 8.6; c < 14; c += 0.1) { // at 1 rounding alone is left
    SCOPED_TRACE(c);
    expect_roots(fit(function([c](double x) { return std::exp(-c * (x + 1) * (x + 1)); }), {-1, 1}), {}, 0);
    expect_roots(fit(function([c](double x) { return std::exp(-2 * c * (x + 1)); }), {-1, 1}), {}, 0);
  }
}

TEST(chebyshev_roots, of_higher_multiplicity) {
  for (const int n : {20, 50}) { // T_n - 1
    SCOPED_TRACE(n);
    series t{host_array<double>(n + 1, 0.0), {}};
    t.coefficients[0] = -1, t.coefficients[n] = 1;
    std::vector<double> wanted;
    for (int k = 0; k <= n; ++k)
      if (k != 1) wanted.push_back(-std::cos(2 * (k / 2) * std::numbers::pi / n));
    expect_roots(t, wanted, 1e-7);
  }
  const auto twice = roots(with_roots({0.3, 0.3}, {-1, 1}));
  ASSERT_EQ(twice.size(), 2);
  for (const double x : twice) EXPECT_NEAR(x, 0.3, 1e-7); // sqrt(u)
  const auto touching = roots(fit(function([](double x) { return 1 - std::cos(x); }), {-1, 7}));
  ASSERT_EQ(touching.size(), 4);
  EXPECT_NEAR(touching[3], 2 * std::numbers::pi, 1e-7);
}

TEST(chebyshev_roots, do_not_depend_on_the_scale) {
  for (const double scale : {1e-310, 1e-300, 1e300, 4e307}) { // the least numbers have fewer digits
    series p = with_roots({-0.5, 0.1, 0.7}, {-1, 1});
    for (double& a : p.coefficients) a *= scale;
    expect_roots(p, {-0.5, 0.1, 0.7}, scale < 1e-308 ? 1e-12 : 1e-15);
  }
}

TEST(chebyshev_roots, of_sums_beyond_the_range_and_of_the_least_numbers) {
  const double most = 1.7e308, least = 0x1p-1074;
  expect_roots({{most, most, most, most}, {}}, {-1, 0, 0.5}, 1e-15); // 2 t (2 t - 1) (t + 1)
  expect_roots({{most, 0, most}, {}}, {0, 0}, 1e-7);                 // 2 t^2
  expect_roots({{-least, 2 * least}, {}}, {0.5}, 1e-15);
  for (const double half : {1e-310, 1e-300, 8e307})
    expect_roots({{-1, 2}, {-half, half}}, {half / 2}, 1e-15 * half + 0x1p-1074);
}

TEST(chebyshev_roots, of_zero_are_refused) {
  EXPECT_THROW(roots({}), error);
  EXPECT_THROW(roots({{0, 0}, {}}), error);
}

} // namespace
} // namespace furrow::chebyshev
