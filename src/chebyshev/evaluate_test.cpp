// SPDX-License-Identifier: BSD-3-Clause
// Values of series.
#include "clenshaw.hpp"
#include "series_test_kit.hpp"

#include "kit/guarded.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"

#include <furrow/chebyshev.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace furrow::chebyshev {
namespace {

/// sum a_k cos(k acos t) in long double, with t from the distance to the nearer end.
long double truth(const series& p, double x) {
  const long double width = static_cast<long double>(p.on.high) - p.on.low;
  const long double up = (x - static_cast<long double>(p.on.low)) / width;
  const long double angle = 2 * std::atan2(std::sqrt(1 - up), std::sqrt(up));
  long double sum = 0;
  for (index_t k = 0; k < p.length(); ++k) sum += p.coefficients[k] * std::cos(angle * static_cast<long double>(k));
  return sum;
}

TEST(chebyshev_evaluate, agrees_with_cosines_inside_and_at_the_ends) {
  for (const interval on : {interval{-1, 1}, interval{0, 12}, interval{-3, 1e6}})
    for (const index_t n : {1, 2, 3, 17, 500, 3000}) {
      const series p = random_series(n, static_cast<std::uint64_t>(n), on);
      for (const double t : {-1.0, -1 + 1e-12, -0.99, -0.875, -0.3, 0.0, 0.5, 0.8751, 0.999, 1 - 1e-9, 1.0}) {
        const double x = on.at(t);
        // Where t is rounded, the angle moves by u / sin(angle), and Reinsch's form spares the ends that.
        EXPECT_LE(std::abs(p(x) - truth(p, x)), 8 * unit * (double(n) + 4) * size_of(p)) << n << " " << t;
      }
    }
}

TEST(chebyshev_evaluate, reinsch_keeps_the_digits_at_the_ends) {
  // T_n(1 - d): Clenshaw's own form loses n^2 d u and more; here the error stays at n u.
  const index_t n = 20000;
  series p{host_array<double>(n + 1, 0.0), {0, 1}};
  p.coefficients[n] = 1;
  for (const double x : {1e-12, 3e-10, 1e-8, 1 - 1e-10, 1 - 0x1p-40})
    EXPECT_NEAR(p(x), double(truth(p, x)), 4e-14) << x;
}

TEST(chebyshev_evaluate, a_point_has_the_same_bits_wherever_it_stands) {
  const auto check_for = [](auto zero) {
    using V = decltype(zero);
    const auto a = kit::random_vector<V>(75, 1);
    const auto x = kit::random_vector<V>(5000, 2);
    host_array<V> all(5000), one(1);
    for (const int count : {1, 3}) {
      set_threads(count);
      evaluate(as_cview(a), {}, as_cview(x), as_view(all));
      for (index_t i = 0; i < 5000; i += 37) {
        evaluate(as_cview(a), {}, cview<V>(&x[i], 1), as_view(one));
        ASSERT_EQ(one[0], all[i]) << i;
      }
    }
    set_threads(0);
  };
  check_for(0.0);
  check_for(0.0f);
}

TEST(chebyshev_evaluate, the_arithmetic_of_the_device_is_that_of_the_host) {
  const auto a = kit::random_vector<double>(300, 3);
  const auto x = kit::random_vector<double>(400, 4);
  host_array<double> y(400);
  evaluate(as_cview(a), {-1, 1}, as_cview(x), as_view(y));
  for (index_t i = 0; i < x.size(); ++i) {
    const auto at = place<double>::of(-1, 1, x[i]);
    clenshaw<double> sum, middle;
    for (index_t k = a.size() - 1; k > 0; --k) {
      sum.step<true>(at, a[k]);
      middle.step<false>(at, a[k]);
    }
    EXPECT_NEAR(sum.value(at, a[0]), y[i], 1e-12); // products and sums may be one instruction here or there
    if (at.turn == 0) {
      EXPECT_EQ(sum.value(at, a[0]), middle.value(at, a[0]));
    }
  }
}

TEST(chebyshev_evaluate, writes_nothing_beside_and_takes_what_is_empty) {
  for (const index_t n : {0, 1, 31, 32, 33, 1000}) {
    kit::guarded<double, kit::host_side> x(kit::random_vector<double>(n, 5), 1);
    auto y = kit::guarded<double, kit::host_side>::unwritten(n, 3);
    const series p = random_series(9, 6);
    evaluate(p, x.get(), y.get());
    for (const double v : y.take()) EXPECT_TRUE(std::isfinite(v));
    x.take();
  }
  EXPECT_EQ(series{}(0.3), 0);
  EXPECT_EQ((series{{2.5}, {0, 3}}(7)), 2.5);
  EXPECT_TRUE(std::isnan(random_series(5, 7)(std::nan(""))));
}

TEST(chebyshev_evaluate, refuses_memory_that_is_not_there_or_is_shared) {
  host_array<double> x(5, 0.5), y(5, 7.0), a{1, 2, 3};
  const auto all = as_view(x);
  const auto says = [&](const char* words, cview<double> coefficients, cview<double> points, view<double> values) {
    kit::expect_refusal(fault::usage, words, [&] { evaluate<double>(coefficients, {}, points, values); });
  };
  says("point nowhere", {nullptr, 3}, as_cview(x), as_view(y));
  says("point nowhere", as_cview(a), {nullptr, 5}, as_view(y));
  says("point nowhere", as_cview(a), as_cview(x), {nullptr, 5});
  says("a series of -3 coefficients", {a.data(), -3}, as_cview(x), as_view(y));
  says("at -5 points", as_cview(a), {x.data(), -5}, {y.data(), -5});
  says("the values share memory", as_cview(a), part(all, 0, 4), part(all, 1, 4));
  says("the values share memory", part(all, 0, 3), as_cview(y), all);
  for (const double v : y) EXPECT_EQ(v, 7);
  evaluate<double>(as_cview(a), {}, as_cview(x), as_view(x)); // in place
  EXPECT_EQ(x[4], 1 + 2 * 0.5 + 3 * (2 * 0.25 - 1));
}

/// The recurrence passes through numbers that are larger than the value, up to n times the coefficients.
TEST(chebyshev_evaluate, of_values_that_fit_where_their_terms_do_not) {
  series p{host_array<double>(40), {-3, 5}};
  for (index_t k = 0; k < 40; ++k) p.coefficients[k] = k % 2 ? -1.1e308 : 1.1e308;
  for (const double x : {-2.9, -1.0, 0.25, 1.0, 3.0, 4.99, 5.0}) {
    const long double wanted = truth(p, x);
    if (std::fabs(wanted) > 1.79e308L) continue;
    EXPECT_NEAR(double(p(x) / 1e308), double(wanted / 1e308L), 1e-12) << x;
  }
  EXPECT_EQ((series{{1.1e308, 1.1e308}, {}})(1), HUGE_VAL);
}

TEST(chebyshev_evaluate, far_outside_of_the_interval_of_values_that_fit) {
  const host_array<double> x{8e307, 1e308, -1.7e308, 0.5, 1e308};
  host_array<double> y(x.size());
  evaluate(series{{0, 1}, {}}, as_cview(x), as_view(y));
  for (index_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i] / x[i], 1, 1e-15) << x[i];
  EXPECT_NEAR((series{{0, 1}, {-8e307, 9e307}})(1.7e308), 1.94117647058823, 1e-13);
  EXPECT_EQ((series{{0, 0, 1, 1}, {}})(-1e308), -HUGE_VAL);
}

TEST(chebyshev_evaluate, at_an_infinity_it_is_the_limit) {
  const auto ends = [](const series& p) { return std::pair(p(-HUGE_VAL), p(HUGE_VAL)); };
  const auto wanted = [](double low, double high) { return std::pair(low, high); };
  EXPECT_EQ(ends({{5}, {}}), wanted(5, 5));
  EXPECT_EQ(ends({{5, 0, 0}, {}}), wanted(5, 5));
  EXPECT_EQ(ends({{1, 2, 3}, {}}), wanted(HUGE_VAL, HUGE_VAL));
  EXPECT_EQ(ends({{1, 2, -3, 0}, {0, 9}}), wanted(-HUGE_VAL, -HUGE_VAL));
  EXPECT_EQ(ends({{1, 2, 3, 4}, {}}), wanted(-HUGE_VAL, HUGE_VAL));
  EXPECT_EQ(ends({{1, 2, 3, -4}, {}}), wanted(HUGE_VAL, -HUGE_VAL));
  const host_array<double> x{0.5, HUGE_VAL, 0, -HUGE_VAL, NAN};
  host_array<double> y(x.size());
  evaluate(series{{0, 1}, {}}, as_cview(x), as_view(y));
  EXPECT_EQ(y[0], 0.5);
  EXPECT_EQ(y[1], HUGE_VAL);
  EXPECT_EQ(y[3], -HUGE_VAL);
  EXPECT_TRUE(std::isnan(y[4]));
}

} // namespace
} // namespace furrow::chebyshev
