// SPDX-License-Identifier: BSD-3-Clause
// Adaptive fits and what is made of them: chopping, quotients, compositions.
#include "kit/said_by.hpp"

#include <furrow/chebyshev.hpp>
#include <furrow/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace furrow::chebyshev {
namespace {

using function = std::function<double(double)>;

using kit::said_by;

TEST(chebyshev_chop, cuts_the_examples_of_the_paper_where_it_does) {
  host_array<double> plain(50), random(50);
  for (index_t k = 0; k < 50; ++k) {
    plain[k] = std::pow(10.0, -double(k + 1));
    random[k] = std::cos(double((k + 1) * (k + 1)));
  }
  const auto with_noise = [&](double size, double tolerance) {
    host_array<double> a(50);
    for (index_t k = 0; k < 50; ++k) a[k] = plain[k] + size * random[k];
    return chop_length(as_cview(a), tolerance);
  };
  EXPECT_EQ(with_noise(0, 0x1p-52), 18);
  EXPECT_EQ(with_noise(1e-16, 0x1p-52), 15);
  EXPECT_EQ(with_noise(1e-13, 0x1p-52), 13);
  EXPECT_EQ(with_noise(1e-10, 0x1p-52), 50);
  EXPECT_EQ(with_noise(1e-10, 1e-10), 10);
}

TEST(chebyshev_chop, edges) {
  EXPECT_EQ(chop_length({}, 1e-10), 0);
  EXPECT_EQ(chop_length(as_cview(host_array<double>(40, 0.0)), 1e-10), 1);
  EXPECT_EQ(chop_length(as_cview(host_array<double>(16, 0.0)), 1e-10), 16);
  EXPECT_EQ(chop_length(as_cview(host_array<double>(40, 1.0)), 1e-10), 40);
  EXPECT_EQ(chop_length(as_cview(host_array<double>(40, 1.0)), 1), 1);
  EXPECT_THROW(chop_length(as_cview(host_array<double>(40, 1.0)), 0), error);
}

TEST(chebyshev_fit, finds_functions_to_the_last_digits) {
  const struct {
    function f;
    interval on;
    index_t shortest, longest;
  } cases[] = {
      {[](double x) { return std::exp(x); }, {}, 14, 15},
      {[](double x) { return 1 / (1 + 25 * x * x); }, {}, 170, 200},
      {[](double x) { return std::exp(std::sin(5 * x)); }, {}, 50, 80},
      {[](double x) { return std::cos(1000 * x); }, {}, 1030, 1150},
      {[](double x) { return std::log(x); }, {1, 10}, 20, 60},
      {[](double x) { return std::sqrt(x); }, {0.01, 1}, 60, 150},
      {[](double) { return 3.0; }, {-5, 8}, 1, 1},
      {[](double) { return 0.0; }, {-5, 8}, 1, 1},
      {[](double x) { return 1e-200 * std::sin(x); }, {0, 6}, 15, 25},
  };
  for (const auto& c : cases) {
    const series p = fit(c.f, c.on);
    EXPECT_GE(p.length(), c.shortest);
    EXPECT_LE(p.length(), c.longest);
    double scale = 0;
    for (int k = 0; k <= 1000; ++k) scale = std::max(scale, std::abs(c.f(c.on.at(k / 500.0 - 1))));
    for (int k = 0; k <= 1000; ++k) {
      const double x = c.on.at(k / 500.0 - 1);
      ASSERT_LE(std::abs(p(x) - c.f(x)), 2e-13 * scale) << x << ", length " << p.length();
    }
  }
}

TEST(chebyshev_fit, the_coefficients_of_exp_are_bessel_functions) {
  const series p = fit(function([](double x) { return std::exp(8 * x); }));
  for (index_t k = 0; k < p.length(); ++k)
    EXPECT_NEAR(p.coefficients[k], (k ? 2 : 1) * std::cyl_bessel_i(double(k), 8.0), 1e-12) << k;
}

TEST(chebyshev_fit, asks_for_each_point_once_and_stops_early_for_a_loose_tolerance) {
  std::vector<double> asked;
  const series p = fit(function([&](double x) {
                         asked.push_back(x);
                         return std::cos(30 * x);
                       }),
                       {}, {1e-5});
  std::sort(asked.begin(), asked.end());
  EXPECT_EQ(std::adjacent_find(asked.begin(), asked.end()), asked.end());
  EXPECT_LE(p.length(), 55);
  EXPECT_NEAR(p(0.123), std::cos(30 * 0.123), 1e-4);
}

TEST(chebyshev_fit, a_slow_fall_is_no_noise_where_the_tolerance_is_loose) {
  const auto worst = [](const series& p, auto f) {
    double error = 0;
    for (double x = -0.9995; x < 1; x += 0.001) error = std::max(error, std::abs(p(x) - f(x)));
    return error;
  };
  const auto kink = [](double x) { return std::abs(x); };
  const auto jump = [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; };
  for (const double tolerance : {1e-2, 1e-3})
    EXPECT_LE(worst(fit(std::function<double(double)>(kink), {}, {tolerance}), kink), 30 * tolerance);
  for (const double tolerance : {1e-2, 1e-3, 1e-6}) {
    try {
      fit(std::function<double(double)>(jump), {}, {tolerance});
      ADD_FAILURE() << tolerance;
    } catch (const error& e) {
      EXPECT_EQ(e.kind, fault::input);
      EXPECT_NE(std::string(e.what()).find("not resolved by 65537 points"), std::string::npos) << e.what();
    }
  }
}

TEST(chebyshev_fit, a_kink_at_a_point_of_the_grid_is_held_to_the_tolerance) {
  const function kink = [](double x) { return std::abs(x); };
  for (const double tolerance : {1e-2, 1e-3, 1e-4}) EXPECT_LE(fit(kink, {}, {tolerance})(0), 10 * tolerance);
}

TEST(chebyshev_fit, an_alias_is_no_answer) {
  // On 17 points this is the constant 1.
  const series p = fit(function([](double x) { return std::cos(32 * std::acos(x)); }));
  EXPECT_EQ(p.length(), 33);
  // On 17 points and on those of the next grid this is the constant 1.
  const function t64 = [](double x) { return std::cos(64 * std::acos(x)); };
  EXPECT_EQ(fit(t64, {}, {1e-3}).length(), 65);
}

TEST(chebyshev_fit, sees_a_peak_between_its_points) {
  const series p = fit(function([](double x) { return std::exp(-1e5 * (x - 0.289) * (x - 0.289)); }));
  EXPECT_NEAR(p(0.289), 1, 1e-12);
}

TEST(chebyshev_fit, of_functions_near_both_ends_of_the_range) {
  for (const double size : {1e-310, 1e-300, 1e300, 1.7e308}) {
    const series p = fit(function([&](double x) { return size * std::cos(3 * x); }));
    for (const double x : {-1.0, -0.3, 0.0, 0.9}) EXPECT_NEAR(p(x) / size, std::cos(3 * x), 1e-13) << size;
    EXPECT_LT(p.length(), 30);
  }
  // The largest coefficient is 4 / pi times the largest value at most; here it does not fit.
  const std::string refused = said_by([] { fit(function([](double x) { return 1.79e308 * std::tanh(30 * x); })); });
  EXPECT_NE(refused.find("beyond the range of double"), refused.npos) << refused;
}

TEST(chebyshev_fit, says_why_not) {
  const auto has = [](const std::string& text, const char* part) { EXPECT_NE(text.find(part), text.npos) << text; };
  has(said_by([] { fit(function([](double x) { return 1 / x; })); }), "the function is inf at x = 0");
  has(said_by([] { fit(function([](double x) { return std::log(x); })); }), "the function is not a number at x = -1:");
  has(said_by([] { fit(function([](double x) { return std::sqrt(x); })); }), "not a number at x = -1");
  has(said_by([] {
        fit(function([](double x) { return std::abs(x - 0.1); }), {}, {0x1p-52, 1025});
      }),
      "not resolved by 1025 points on [-1, 1]");
  has(said_by([] {
        fit(function([](double x) { return x - 1e8; }), {1e8 - 1, 1e8 + 1});
      }),
      "and x is rounded there, to 1.1e-08 of half of the interval; fit f(x + 99999999) around 0");
  has(said_by([] { fit(function([](double x) { return x > 10.5 ? 1.0 : 0.0; }), {10, 11}, {1e-10}); }), "kinks");
  has(said_by([] { fit(function([](double x) { return x; }), {2, 1}); }), "[2, 1] is no interval");
  has(said_by([] { fit(function([](double x) { return x; }), {}, {-1}); }), "a tolerance of -1");
  has(said_by([] { fit(function([](double x) { return x; }), {}, {1}); }), "a tolerance of 1 is met by anything");
  has(said_by([] { fit(function([](double x) { return x; }), {}, {1e-30}); }),
      "a tolerance of 1e-30 cannot be met: a double is rounded to 1.1e-16");
  has(said_by([] { fit(function([](double x) { return x; }), {}, {1e-10, index_t(1) << 31}); }), "2147483648 points");
}

TEST(chebyshev_fit, misses_a_value_that_the_function_does_not_write) {
  const auto leave_one_out = [](cview<double> x, view<double> y) { std::fill(y.begin(), y.end() - 1, x[0]); };
  EXPECT_NE(said_by([&] { fit(leave_one_out); }).find("the function is not a number at x = 1:"), std::string::npos);
}

TEST(chebyshev_divide, is_the_inverse_of_multiply) {
  const series p = fit(function([](double x) { return std::sin(3 * x); }), {0, 2});
  const series q = fit(function([](double x) { return 2 + std::cos(5 * x); }), {0, 2});
  const series r = divide(p, q);
  for (const double x : {0.0, 0.4, 1.1, 2.0}) EXPECT_NEAR(r(x), p(x) / q(x), 1e-14);
  const series back = r * q;
  for (const double x : {0.0, 0.4, 1.1, 2.0}) EXPECT_NEAR(back(x), p(x), 1e-14);
  const std::string refused = said_by([&] { divide(q, p); });
  EXPECT_NE(refused.find("the divisor is 0 at x = "), refused.npos) << refused;
}

TEST(chebyshev_compose, is_the_function_of_the_function) {
  const series outer = fit(function([](double x) { return std::exp(x); }), {-1, 1});
  const series inner = fit(function([](double x) { return std::sin(10 * x); }), {0, 1});
  const series p = compose(outer, inner);
  for (const double x : {0.0, 0.1, 0.77, 1.0}) EXPECT_NEAR(p(x), std::exp(std::sin(10 * x)), 1e-14);
  const std::string refused = said_by([&] { compose(outer, 1.5 * inner); });
  EXPECT_NE(refused.find("outside of [-1, 1]"), refused.npos) << refused;
}

} // namespace
} // namespace furrow::chebyshev
