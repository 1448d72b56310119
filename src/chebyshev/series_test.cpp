// SPDX-License-Identifier: BSD-3-Clause
// Points, and what is exact: sums, products, derivatives, integrals, changes of basis.
#include "series_test_kit.hpp"

#include "kit/said_by.hpp"

#include <furrow/chebyshev.hpp>
#include <furrow/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace furrow::chebyshev {
namespace {

using kit::said_by;

double largest_difference(cview<double> a, cview<double> b) {
  EXPECT_EQ(a.size, b.size);
  double worst = 0;
  for (index_t i = 0; i < std::min(a.size, b.size); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

TEST(chebyshev_points, transforms_of_both_kinds_are_sums_of_cosines) {
  for (const kind which : {kind::first, kind::second})
    for (const index_t n : {1, 2, 3, 4, 5, 8, 17, 30, 64, 97, 128, 129}) {
      const series p = random_series(n, 8);
      const auto x = points(which, n);
      const auto values = to_values(which, as_cview(p.coefficients));
      for (index_t j = 0; j < n; ++j) {
        const long double angle = which == kind::first
                                      ? std::numbers::pi_v<long double> * (2 * (n - 1 - j) + 1) / (2 * n)
                                  : n == 1 ? std::numbers::pi_v<long double> / 2
                                           : std::numbers::pi_v<long double> * (n - 1 - j) / (n - 1);
        long double wanted = 0;
        for (index_t k = 0; k < n; ++k) wanted += p.coefficients[k] * std::cos(angle * static_cast<long double>(k));
        EXPECT_NEAR(values[j], double(wanted), 20 * unit * size_of(p)) << n;
        EXPECT_NEAR(x[j], double(std::cos(angle)), 2 * unit);
        EXPECT_EQ(x[j], -x[n - 1 - j]);
      }
      const auto back = to_coefficients(which, as_cview(values));
      EXPECT_LE(largest_difference(as_cview(back), as_cview(p.coefficients)), 40 * unit * size_of(p)) << n;
    }
}

TEST(chebyshev_points, long_transforms_come_back) {
  for (const kind which : {kind::first, kind::second})
    for (const index_t n : {4097, 10007, 65536, 65537}) {
      const auto a = kit::random_vector<double>(n, 9);
      const auto back = to_coefficients(which, as_cview(to_values(which, as_cview(a))));
      EXPECT_LE(largest_difference(as_cview(back), as_cview(a)), 3e-14) << n;
    }
}

/// The transforms add up to twice as many values as there are: those of a constant near the end of the range are not
/// beyond it.
TEST(chebyshev_points, transforms_stay_within_the_range_of_double) {
  for (const kind which : {kind::first, kind::second})
    for (const index_t n : {1, 2, 3, 9, 65})
      for (const double size : {1.7e308, -4e307, 1e304}) {
        const host_array<double> values(n, size);
        const host_array<double> a = to_coefficients(which, as_cview(values));
        for (index_t k = 0; k < n; ++k) EXPECT_NEAR(a[k] / size, k == 0 ? 1 : 0, 1e-15) << size << ", " << n;
        const host_array<double> back = to_values(which, as_cview(a));
        for (const double v : back) EXPECT_NEAR(v / size, 1, 1e-14) << size << ", " << n;
      }
  const series p = restriction({{1e308, 5e307}, {}}, {0, 1});
  EXPECT_NEAR(p.coefficients[0], 1.25e308, 1e293);
  EXPECT_NEAR(p.coefficients[1], 2.5e307, 1e293);
}

TEST(chebyshev_arithmetic, sums_and_products_are_those_of_the_values) {
  const interval on{-2, 5};
  const series p = random_series(20, 10, on), q = random_series(33, 11, on);
  for (const double x : {-2.0, -0.7, 1.5, 4.9, 5.0}) {
    EXPECT_NEAR((p + q)(x), p(x) + q(x), 1e-13);
    EXPECT_NEAR((p - q)(x), p(x) - q(x), 1e-13);
    EXPECT_NEAR((p * q)(x), p(x) * q(x), 1e-12);
    EXPECT_NEAR((-p)(x), -p(x), 1e-14);
    EXPECT_NEAR(power(p, 3)(x), p(x) * p(x) * p(x), 1e-10);
  }
  EXPECT_EQ(power(p, 0).length(), 1);
  EXPECT_EQ(power(p, 1).length(), 20);
  EXPECT_EQ((p * q).length(), 52);
  EXPECT_THROW(p + random_series(3, 12), error);
  EXPECT_THROW(power(p, -1), error);
  EXPECT_THROW(power(p, index_t(1) << 60), error);
}

TEST(chebyshev_calculus, derivative_of_the_integral_is_the_series_itself) {
  for (const index_t n : {1, 2, 3, 40, 300}) {
    const series p = random_series(n, 13, {-3, 7});
    const series q = integral(p, 0.25);
    EXPECT_EQ(q.length(), n + 1);
    EXPECT_NEAR(q(-3), 0.25, 1e-13);
    EXPECT_NEAR(q(7) - 0.25, definite_integral(p), 1e-13 * double(n));
    const series back = derivative(q);
    EXPECT_LE(largest_difference(as_cview(back.coefficients), as_cview(p.coefficients)), 1e-13 * double(n));
  }
}

TEST(chebyshev_calculus, the_rule_of_products) {
  const series p = random_series(12, 14, {1, 2}), q = random_series(9, 15, {1, 2});
  const series left = derivative(p * q), right = derivative(p) * q + p * derivative(q);
  EXPECT_LE(largest_difference(as_cview(left.coefficients), as_cview(right.coefficients)), 1e-11);
}

TEST(chebyshev_calculus, restriction_keeps_the_values) {
  const series p = random_series(60, 16, {-4, 4});
  const series q = restriction(p, {0.5, 2});
  for (const double x : {0.5, 0.9, 1.3, 2.0}) EXPECT_NEAR(q(x), p(x), 1e-12);
  EXPECT_THROW(restriction(p, {0, 5}), error);
}

TEST(chebyshev_convert, monomials_and_legendre_polynomials) {
  const series t3{{0, 0, 0, 1}, {}};
  const auto m = to_monomials(t3);
  EXPECT_LE(largest_difference(as_cview(m), as_cview(host_array<double>{0, -3, 0, 4})), 0);
  // T_2 = 4/3 P_2 - 1/3 P_0, T_3 = 8/5 P_3 - 3/5 P_1
  EXPECT_LE(
      largest_difference(as_cview(to_legendre({{0, 0, 1}, {}})), as_cview(host_array<double>{-1. / 3, 0, 4. / 3})),
      2e-16);
  EXPECT_LE(largest_difference(as_cview(to_legendre(t3)), as_cview(host_array<double>{0, -.6, 0, 1.6})), 1e-15);
  for (const index_t n : {0, 1, 2, 3, 15}) {
    const series p = random_series(n, 17, {1, 4});
    const auto powers = to_monomials(p);
    const series back = from_monomials(as_cview(powers), p.on);
    EXPECT_LE(largest_difference(as_cview(back.coefficients), as_cview(p.coefficients)), 1e-4) << n; // 10^n lost
  }
  for (const index_t n : {0, 1, 2, 3, 100, 1001}) {
    const series p = random_series(n, 18);
    const series back = from_legendre(as_cview(to_legendre(p)), p.on);
    EXPECT_LE(largest_difference(as_cview(back.coefficients), as_cview(p.coefficients)), 1e-14 * double(n + 1)) << n;
  }
}

TEST(chebyshev_refusals, name_what_is_wrong) {
  const auto has = [](const std::string& text, const char* part) { EXPECT_NE(text.find(part), text.npos) << text; };
  const double inf = std::numeric_limits<double>::infinity();
  has(said_by([&] { derivative({{1, std::nan("")}, {}}); }), "coefficient 1 of the series is nan");
  has(said_by([&] { integral({{-inf}, {}}); }), "coefficient 0 of the series is -inf");
  has(said_by([] { points(kind::first, 3, {1, 1}); }), "[1, 1] is no interval");
  has(said_by([&] { points(kind::first, 3, {0, inf}); }), "is no interval");
  has(said_by([] {
        points(kind::first, 3, {-1e308, 1e308});
      }),
      "[-1e+308, 1e+308] is too long: the difference of its ends is beyond the range of double");
  has(said_by([] { fit(std::function<double(double)>()); }), "the function to fit is empty");
  has(said_by([] { fit(std::function<void(cview<double>, view<double>)>()); }), "the function to fit is empty");
  has(said_by([] { points(kind::second, index_t(1) << 31); }), "2147483648 points");
  has(said_by([] { points(kind::second, 0); }), "0 points");
  has(said_by([] { to_monomials({host_array<double>(40000, 1.0), {}}); }), "40000 coefficients");
  has(said_by([] { to_coefficients(kind::first, {nullptr, index_t(1) << 31}); }), "2147483648 points or coefficients");
  has(said_by([] { from_monomials({nullptr, 5}); }), "5 coefficients point nowhere");
  has(said_by([] { from_legendre({nullptr, 5}); }), "5 coefficients point nowhere");
  has(said_by([] { to_coefficients(kind::first, {nullptr, 5}); }), "5 points or coefficients point nowhere");
  has(said_by([] { to_values(kind::second, {nullptr, 5}); }), "5 points or coefficients point nowhere");
  has(said_by([] { chop_length({nullptr, 50}); }), "50 coefficients point nowhere");
  const double some[] = {1, 2};
  has(said_by([&] { chop_length({some, -2}); }), "a series of -2 coefficients cannot be");
  const series p{{2.0}, {}};
  has(said_by([&] { power(p, 2000); }), "p^2000 has coefficients beyond the range of double");
  EXPECT_EQ(power(p, 1000).coefficients[0], std::ldexp(1.0, 1000));
  has(said_by([&] { std::nan("") * p; }), "nan times a series is none");
  has(said_by([&] { inf* p; }), "inf times a series is none");
  has(said_by([&] { integral(p, std::nan("")); }), "an integral plus nan is no series");
  host_array<double> x(3), y(2);
  has(said_by([&] { evaluate(series{{1}, {}}, as_cview(x), as_view(y)); }), "3 points and room for 2 values");
}

} // namespace
} // namespace furrow::chebyshev
