// SPDX-License-Identifier: BSD-3-Clause
#include "chebyshev_check.hpp"

#include "random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace furrow::kit {

using namespace chebyshev;

namespace {

template <class V>
void expect_truth(const chebyshev_truth& truth, cview<V> a, cview<V> b, cview<V> c, const product_options& options,
                  algorithm how) {
  const index_t keep = options.keep.value_or(a.size + b.size - 1);
  ASSERT_EQ(c.size, keep);
  const long double u = std::numeric_limits<V>::epsilon() / 2, normwise = error_bound(a, b, options, how);
  const long double m = 2 * static_cast<long double>(std::min(a.size, b.size)), gamma = m * u / (1 - m * u);
  const long double least = std::numeric_limits<V>::denorm_min(), most = std::numeric_limits<V>::max();
  for (index_t k = 0; k < keep; ++k) {
    if (!std::isfinite(c[k])) {
      const long double slack = how == algorithm::fft ? normwise : gamma * truth.size[k];
      ASSERT_FALSE(std::isnan(c[k])) << k;
      ASSERT_GE(std::copysign(1.0L, c[k]) * truth.value[k] + slack, most) << k << ", " << name_of(how);
      continue;
    }
    const long double error = std::fabs(static_cast<long double>(c[k]) - truth.value[k]);
    const long double bound = how == algorithm::fft ? normwise : gamma * truth.size[k] + m * least;
    ASSERT_LE(error, bound) << "coefficient " << k << " of " << keep << ", na " << a.size << ", nb " << b.size << ", "
                            << name_of(options.series) << ", " << name_of(how);
    ASSERT_LE(error, normwise) << k;
  }
}

} // namespace

template <class V>
void expect_product(cview<V> a, cview<V> b, cview<V> c, const product_options& options, algorithm how) {
  const index_t keep = options.keep.value_or(a.size + b.size - 1);
  expect_truth(multiply_in_long_double(a, b, options.series, keep), a, b, c, options, how);
}

namespace {

template <class V> host_array<V> rounded(const host_array<double>& x) {
  host_array<V> y(x.size());
  for (index_t i = 0; i < x.size(); ++i) y[i] = V(x[i]);
  return y;
}

} // namespace

template <class V> void check_products(algorithm how, device where, index_t longest) {
  for (const auto& c : chebyshev_battery(longest)) {
    SCOPED_TRACE(c.name);
    const auto a = rounded<V>(c.a), b = rounded<V>(c.b);
    const index_t all = a.size() + b.size() - 1;
    for (const convention series : {convention::plain, convention::primed}) {
      const auto truth = multiply_in_long_double<V>(as_cview(a), as_cview(b), series, all + 3);
      for (const index_t keep : {all, std::max(a.size(), b.size()), index_t(1), all + 3}) {
        product_options o{series, keep, how, accuracy::componentwise, where};
        if (keep == all) o.keep.reset();
        const auto product = multiply<V>(as_cview(a), as_cview(b), o);
        expect_truth<V>(truth, as_cview(a), as_cview(b), as_cview(product), o, how);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

template <class V> void check_known_products(algorithm how, device where) {
  struct known {
    host_array<V> a, b, c;
    convention series;
  };
  const known all[] = {
      {{1, 2, 3}, {3, 2, 1}, {V(6.5), 12, 12, 4, V(1.5)}, convention::plain},
      {{6, 7, 5}, {4, 5, 6}, {V(56.5), V(91.5), V(73.5), V(33.5), 15}, convention::plain},
      {{1, 2, 3, 4}, {5, 6}, {11, 25, 33, 29, 12}, convention::plain},
      {{5, 6}, {1, 2, 3, 4}, {11, 25, 33, 29, 12}, convention::plain},
      {{1, 2, 3}, {3, 2, 1}, {V(8.5), 8, 7, 4, V(1.5)}, convention::primed},
      {{1}, {1}, {1}, convention::plain},
      {{1}, {1}, {V(0.5)}, convention::primed},
  };
  for (const auto& k : all) {
    const product_options o{k.series, {}, how, accuracy::componentwise, where};
    const auto c = multiply<V>(as_cview(k.a), as_cview(k.b), o);
    ASSERT_EQ(c.size(), k.c.size());
    for (index_t i = 0; i < c.size(); ++i) {
      if (how == algorithm::fft) {
        EXPECT_NEAR(double(c[i]), double(k.c[i]), 200 * std::numeric_limits<V>::epsilon()) << i;
      } else {
        EXPECT_EQ(c[i], k.c[i]) << i;
      }
    }
  }
  for (const index_t n : {1, 2, 63, 64, 1000}) { // all ones: small numbers and halves, exact in any order
    const host_array<V> ones(n, V(1));
    const auto c =
        multiply<V>(as_cview(ones), as_cview(ones), {convention::plain, {}, how, accuracy::componentwise, where});
    double sum = 0;
    for (index_t k = 0; k < 2 * n - 1; ++k) {
      const double expected = k == 0  ? double(n + 1) / 2
                              : k < n ? double(2 * n - k + 1) / 2
                                      : double(2 * n - 1 - k) / 2;
      if (how == algorithm::fft) {
        ASSERT_NEAR(double(c[k]), expected, 1e-12 * double(n * n) + expected * 0x1p-22) << k;
      } else {
        ASSERT_EQ(double(c[k]), expected) << k;
      }
      sum += double(c[k]);
    }
    if (how != algorithm::fft) {
      EXPECT_EQ(sum, double(n) * double(n));
    }
  }
}

template <class V> void check_scaled_products(algorithm how, device where) {
  const int e = std::numeric_limits<V>::max_exponent - 24; // 2^100 and more
  const auto a = random_vector<V>(77, 5), b = random_vector<V>(50, 6);
  auto big = a, small = b;
  for (V& v : big) v = std::ldexp(v, e);
  for (V& v : small) v = std::ldexp(v, -e);
  for (const convention series : {convention::plain, convention::primed}) {
    const product_options o{series, {}, how, accuracy::componentwise, where};
    const auto c = multiply<V>(as_cview(a), as_cview(b), o), d = multiply<V>(as_cview(big), as_cview(small), o);
    for (index_t k = 0; k < c.size(); ++k)
      ASSERT_NEAR(double(c[k]), double(d[k]), double(std::numeric_limits<V>::epsilon()) * 100) << k;
  }
  host_array<V> zero(9, V(0));
  const auto c = multiply<V>(as_cview(a), as_cview(zero), {convention::plain, {}, how, accuracy::componentwise, where});
  for (const V v : c) EXPECT_EQ(v, V(0));
}

template <class V> void check_extreme_products(algorithm how, device where) {
  using limits = std::numeric_limits<V>;
  constexpr int top = limits::max_exponent, bottom = limits::min_exponent - limits::digits; // least: 2^bottom
  const int exponents[][2] = {
      {top, 0},           {top - 1, 1},   {top - 9, 5},       {top, top},       {top / 2, top / 2},
      {top / 2, top / 3}, {bottom, 0},    {bottom + 9, 3},    {bottom, bottom}, {bottom / 2, bottom / 2},
      {top, bottom},      {top, 3 - top}, {bottom + 20, -20}, {0, bottom + 2}};
  for (const index_t nb : {1, 2, 3, 40})
    for (const auto& e : exponents)
      for (const bool mixed : {false, true}) { // terms of all sizes in one factor
        auto a = random_vector<V>(33, 9), b = random_vector<V>(nb, 10);
        for (index_t k = 0; k < a.size(); ++k) a[k] = std::ldexp(a[k], mixed && k % 3 ? -e[0] : e[0]);
        for (index_t k = 0; k < b.size(); ++k) b[k] = std::ldexp(b[k], mixed && k % 2 ? -e[1] : e[1]);
        for (auto* const x : {&a, &b})
          for (V& v : *x)
            if (!std::isfinite(v)) v = std::copysign(limits::max(), v);
        SCOPED_TRACE(testing::Message() << "2^" << e[0] << " by 2^" << e[1] << ", " << nb << " coefficients");
        for (const convention series : {convention::plain, convention::primed}) {
          const product_options o{series, {}, how, accuracy::componentwise, where};
          expect_product<V>(as_cview(a), as_cview(b), as_cview(multiply<V>(as_cview(a), as_cview(b), o)), o, how);
          if (testing::Test::HasFatalFailure()) return;
        }
      }
}

template <class V, template <class> class Array> void check_batches(algorithm how, device where) {
  const index_t na = 40, nb = 29, gap = 7, keep = 50;
  const V mark = V(12345);
  for (const index_t count : {1, 2, 5}) {
    const product_options o{convention::primed, keep, how, accuracy::componentwise, where};
    const auto a = random_vector<V>(count * (na + gap), 7), b = random_vector<V>(count * (nb + gap), 8);
    const Array<V> there_a(a), there_b(b);
    product_plan<V> plan(na, nb, count, o);
    ASSERT_EQ(plan.size(), keep);
    const batch<const V> many_a{there_a.data(), count, na + gap}, many_b{there_b.data(), count, nb + gap};
    plan.fix(there_a.data());
    for (int kind = 0; kind < 4; ++kind) { // many by many, one by many, many by one, fixed by many
      SCOPED_TRACE(kind);
      const bool one_a = kind == 1 || kind == 3, one_b = kind == 2;
      host_array<V> first;
      for (int repeat = 0; repeat < 3; ++repeat) {
        Array<V> there_c(host_array<V>(count * (keep + gap), mark));
        const batch<V> c{there_c.data(), count, keep + gap};
        if (kind == 3) plan.multiply_fixed(many_b, c);
        else
          plan.multiply(one_a ? batch<const V>{there_a.data()} : many_a,
                        one_b ? batch<const V>{there_b.data()} : many_b, c);
        const host_array<V> result(there_c);
        for (index_t s = 0; s < count; ++s) {
          expect_product<V>(part(as_cview(a), one_a ? 0 : s * (na + gap), na),
                            part(as_cview(b), one_b ? 0 : s * (nb + gap), nb),
                            part(as_cview(result), s * (keep + gap), keep), o, how);
          for (index_t k = 0; k < gap; ++k) ASSERT_EQ(result[s * (keep + gap) + keep + k], mark) << s;
        }
        if (repeat == 0) first = result;
        EXPECT_EQ(std::memcmp(first.data(), result.data(), result.byte_count()), 0) << "repeat " << repeat;
      }
    }
  }
}

#define FURROW_FOR(V)                                                                                                  \
  template void expect_product<V>(cview<V>, cview<V>, cview<V>, const product_options&, algorithm);                    \
  template void check_products<V>(algorithm, device, index_t);                                                         \
  template void check_known_products<V>(algorithm, device);                                                            \
  template void check_scaled_products<V>(algorithm, device);                                                           \
  template void check_extreme_products<V>(algorithm, device);                                                          \
  template void check_batches<V, host_array>(algorithm, device);                                                       \
  template void check_batches<V, gpu_array>(algorithm, device);
FURROW_FOR(double)
FURROW_FOR(float)
#undef FURROW_FOR

} // namespace furrow::kit
