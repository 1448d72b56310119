// SPDX-License-Identifier: BSD-3-Clause
// Functions of matrices against eigenvectors that are known.
#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"

#include <furrow/chebyshev.hpp>
#include <furrow/error.hpp>
#include <furrow/formats.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace furrow::chebyshev {
namespace {

template <class V> std::unique_ptr<any_operator<V>> on_cpu(coo<V> a) {
  return find_format("csr").cpu.make<V>()(std::move(a), {}, "auto");
}

/// f(A) x for the Laplacian of a line of n points by its sines, in long double.
template <class F> std::vector<long double> by_sines(index_t n, const host_array<double>& x, F f) {
  std::vector<long double> y(static_cast<std::size_t>(n));
  const long double step = std::numbers::pi_v<long double> / static_cast<long double>(n + 1);
  for (index_t k = 1; k <= n; ++k) {
    long double share = 0;
    for (index_t i = 0; i < n; ++i) share += x[i] * std::sin(step * static_cast<long double>(k * (i + 1)));
    share *= 2 / static_cast<long double>(n + 1) * f(2 - 2 * std::cos(step * static_cast<long double>(k)));
    for (index_t i = 0; i < n; ++i)
      y[static_cast<std::size_t>(i)] += share * std::sin(step * static_cast<long double>(k * (i + 1)));
  }
  return y;
}

template <class V> struct chebyshev_operator : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(chebyshev_operator, precisions);

TYPED_TEST(chebyshev_operator, is_the_function_of_the_spectrum) {
  using V = TypeParam;
  const index_t n = 60;
  const auto a = kit::as_precision<V>(kit::laplacian(n));
  const auto x = kit::random_vector<double>(n, 1);
  const auto norm = [](const auto& v) {
    long double sum = 0;
    for (const auto e : v) sum += static_cast<long double>(e) * e;
    return static_cast<double>(std::sqrt(sum));
  };
  const interval on{0, 4};
  for (const index_t length : {0, 1, 2, 3, 4, 5, 30, 31}) {
    const series p{kit::random_vector<double>(length, 2), on};
    const auto wanted = by_sines(n, x, [&](long double v) { return static_cast<long double>(p(double(v))); });
    for (const bool centred : {false, true}) {
      const auto op = on_cpu(centred ? centre(a, on) : a);
      kit::guarded<V, kit::host_side> x_v([&] {
        host_array<V> narrow(n);
        for (index_t i = 0; i < n; ++i) narrow[i] = static_cast<V>(x[i]);
        return narrow;
      }());
      auto y = kit::guarded<V, kit::host_side>::unwritten(n);
      apply(p, {*op, {}, centred}, cview<V>(x_v.get()), y.get());
      const auto got = y.take();
      std::vector<long double> wrong;
      for (index_t i = 0; i < n; ++i) wrong.push_back(got[i] - wanted[static_cast<std::size_t>(i)]);
      const double unit = std::numeric_limits<V>::epsilon();
      EXPECT_LE(norm(wrong), 20 * unit * double(length + 1) * norm(x)) << length << (centred ? ", centred" : "");
    }
  }
}

TYPED_TEST(chebyshev_operator, several_vectors_are_each_its_own) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(9, 8));
  const auto op = on_cpu(a);
  const index_t n = 72;
  const series p{kit::random_vector<double>(12, 3), gershgorin(a)};
  const auto x = kit::random_vector<V>(3 * n, 4);
  host_array<V> all(3 * n), one(n);
  apply(p, {*op}, as_cview(x), as_view(all), 3);
  for (index_t v = 0; v < 3; ++v) {
    apply(p, {*op}, cview<V>(x.data() + v * n, n), as_view(one));
    EXPECT_TRUE(kit::same_bits(as_cview(one), cview<V>(all.data() + v * n, n)));
  }
}

TEST(chebyshev_exponential, of_a_laplacian) {
  const index_t n = 80;
  const auto a = kit::laplacian(n);
  const auto op = on_cpu(coo<double>(a));
  const auto x = kit::random_vector<double>(n, 5);
  const interval on = gershgorin(a);
  for (const double t : {-100.0, -3.0, -0.01, 0.0, 0.5, 20.0}) {
    const auto wanted = by_sines(n, x, [&](long double v) { return std::exp(t * v); });
    host_array<double> y(n);
    apply(exponential(t, on), {*op}, as_cview(x), as_view(y));
    const double scale = std::exp(std::max(t * on.low, t * on.high));
    for (index_t i = 0; i < n; ++i) EXPECT_NEAR(y[i], double(wanted[static_cast<std::size_t>(i)]), 1e-13 * scale) << t;
  }
  EXPECT_THROW(exponential(1e4, on), error);
  EXPECT_THROW(exponential(std::nan(""), on), error);
}

TEST(chebyshev_window, keeps_a_part_of_the_spectrum) {
  const interval on{0, 12};
  const series p = window(3, 5, on, 400);
  EXPECT_NEAR(p(4), 1, 1e-3);
  EXPECT_NEAR(p(3), 0.5, 0.02);
  EXPECT_NEAR(p(1), 0, 1e-3);
  EXPECT_NEAR(p(9), 0, 1e-3);
  for (int k = 0; k <= 1000; ++k) { // Jackson's kernel is positive
    EXPECT_GE(p(0.012 * k), -1e-12);
    EXPECT_LE(p(0.012 * k), 1 + 1e-12);
  }
}

TYPED_TEST(chebyshev_operator, bounds_hold_the_spectrum) {
  using V = TypeParam;
  const struct {
    coo<double> a;
    double low, high;
  } cases[] = {
      {kit::laplacian(20, 20, 20), 6 - 6 * std::cos(std::numbers::pi / 21), 6 + 6 * std::cos(std::numbers::pi / 21)},
      {kit::diagonal({1e8, 2e8, 3e8, -5e8}), -5e8, 3e8},
      {kit::diagonal({2, 2, 2}), 2, 2},
      {kit::diagonal({-3}), -3, -3},
  };
  for (const auto& c : cases) {
    const auto a = kit::as_precision<V>(c.a);
    const interval outer = gershgorin(a);
    EXPECT_LE(outer.low, c.low);
    EXPECT_GE(outer.high, c.high);
    const auto op = on_cpu(a);
    const interval inner = lanczos_bounds<V>({*op}, outer);
    EXPECT_LE(inner.low, c.low);
    EXPECT_GE(inner.high, c.high);
    EXPECT_LE(inner.high - inner.low, 1.05 * (c.high - c.low) + 1e-5 * std::abs(c.high));
  }
}

TEST(chebyshev_bounds, refuse_an_interval_that_does_not_hold_the_spectrum) {
  const auto laplacian = on_cpu(kit::laplacian(20)), ones = on_cpu(kit::diagonal({1, 1, 1}));
  kit::expect_refusal(fault::usage, "outside of [100, 200]", [&] { lanczos_bounds<double>({*laplacian}, {100, 200}); });
  kit::expect_refusal(fault::usage, "outside of [-2, 2]", [&] { lanczos_bounds<double>({*laplacian}, {-2, 2}); });
  kit::expect_refusal(fault::usage, "the spectrum reaches from 1 to 1, outside of [2, 3]", [&] {
    lanczos_bounds<double>({*ones}, {2, 3});
  });
}

TEST(chebyshev_centre, moves_the_diagonal) {
  const auto a = kit::assemble({4, 4}, {{0, 0, 5}, {0, 3, 1}, {2, 1, 7}, {3, 0, 1}, {3, 3, 2}});
  const auto b = centre(coo<double>(a), {1, 3});
  EXPECT_EQ(kit::violation(b), "");
  EXPECT_EQ(b.nnz(), 7);
  const auto expected =
      kit::assemble({4, 4}, {{0, 0, 3}, {0, 3, 1}, {1, 1, -2}, {2, 1, 7}, {2, 2, -2}, {3, 0, 1}, {3, 3, 0}});
  for (index_t k = 0; k < 7; ++k) {
    EXPECT_EQ(b.row[k], expected.row[k]);
    EXPECT_EQ(b.col[k], expected.col[k]);
    EXPECT_EQ(b.val[k], expected.val[k]);
  }
}

TEST(operator_of_a_series, refuses_vectors_and_devices_that_do_not_fit) {
  const auto op = on_cpu(kit::laplacian(4));
  const series p{{1, 2, 3}, {0, 4}};
  const device gpu{device::kind::gpu, 0};
  std::vector<double> x(4, 1.0), y(4, 7.0), longer(5, 1.0);
  const auto refused = [](auto&& call) -> std::string {
    try {
      call();
      return "accepted";
    } catch (const error& e) {
      EXPECT_EQ(e.kind, fault::usage) << e.what();
      return e.what();
    }
  };
  const symmetric_operator<double> here{*op}, there{*op, gpu};
  const std::string elsewhere = "the operator lives on cpu, but its vectors are said to be on gpu:0";
  EXPECT_EQ(refused([&] { apply<double>(p, there, x, y); }).find(elsewhere), 0u);
  EXPECT_EQ(refused([&] { density<double>(there, p.on); }).find(elsewhere), 0u);
  EXPECT_EQ(refused([&] { lanczos_bounds<double>(there, p.on); }).find(elsewhere), 0u);
  EXPECT_EQ(refused([&] { apply<double>(p, here, longer, y); }),
            "x has 5 elements and y 4, where 1 vectors of 4 are wanted");
  EXPECT_EQ(refused([&] { apply<double>(p, here, x, x); }), "x and y share memory: give each its own");
  EXPECT_EQ(refused([&] { apply<double>(p, here, cview<double>(nullptr, 4), y); }),
            "x or y points nowhere, but has 4 elements");
  for (const double v : y) EXPECT_EQ(v, 7);
}

/// The eigenvalues 2 d - 2 sum cos(pi k / (N + 1)) of a box.
std::vector<double> spectrum(index_t n, int dimensions) {
  std::vector<double> all{0};
  for (int d = 0; d < dimensions; ++d) {
    std::vector<double> next;
    for (const double sum : all)
      for (index_t k = 1; k <= n; ++k)
        next.push_back(sum + 2 - 2 * std::cos(std::numbers::pi * double(k) / double(n + 1)));
    all = std::move(next);
  }
  std::sort(all.begin(), all.end());
  return all;
}

TYPED_TEST(chebyshev_operator, density_of_the_laplacians_is_their_spectrum) {
  using V = TypeParam;
  const struct {
    index_t n;
    int dimensions;
  } cases[] = {{4000, 1}, {60, 2}, {16, 3}};
  for (const auto& c : cases) {
    const auto a = kit::as_precision<V>(kit::laplacian(c.n, c.dimensions > 1 ? c.n : 1, c.dimensions > 2 ? c.n : 1));
    const double rows = double(a.shape.rows), top = 4.0 * c.dimensions;
    const interval on{-0.01 * top, 1.01 * top};
    const auto exact = spectrum(c.n, c.dimensions);
    for (const bool centred : {false, true}) {
      const auto op = on_cpu(centred ? centre(a, on) : a);
      const auto d = density<V>({*op, {}, centred}, on, {64, 16});
      EXPECT_NEAR(d.moments[0], 1, 1e-6);
      EXPECT_NEAR(d.count_below(on.high), rows, 1e-4 * rows);
      EXPECT_EQ(d.count_below(on.low), 0);
      for (const double share : {0.2, 0.4, 0.5, 0.75}) {
        const double lambda = share * top;
        const auto below = std::lower_bound(exact.begin(), exact.end(), lambda) - exact.begin();
        EXPECT_NEAR(d.count_below(lambda), double(below), 0.03 * rows) << c.dimensions << " dimensions, " << lambda;
        const double slope = (d.count_below(lambda + 1e-4) - d.count_below(lambda - 1e-4)) / 2e-4;
        EXPECT_NEAR(d.at(lambda), slope, 1e-4 * rows);
      }
    }
  }
}

} // namespace
} // namespace furrow::chebyshev
