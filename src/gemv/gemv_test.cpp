// SPDX-License-Identifier: BSD-3-Clause
#include "kit/gemv_check.hpp"
#include "kit/random.hpp"

#include "backends/cpu/isa.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace furrow {
namespace {

template <class T> struct gemv_on_cpu : testing::Test {};
using storage_types = testing::Types<double, float, half, bfloat16>;
TYPED_TEST_SUITE(gemv_on_cpu, storage_types);

TYPED_TEST(gemv_on_cpu, is_exact_on_integers_in_every_variant) {
  kit::check_all_gemv<TypeParam, kit::host_side>(device{});
}

TYPED_TEST(gemv_on_cpu, is_exact_on_very_long_shapes) {
  for (const shape2 shape : {shape2{1, 1000003}, {1000003, 1}, {2, 1000003}, {1000003, 2}, {44, 100003}, {100003, 20}})
    for (const bool transposed : {false, true})
      for (const auto order : {storage_order::row_major, storage_order::col_major}) {
        kit::gemv_case q;
        q.shape = shape;
        q.transposed = transposed;
        q.order = order;
        kit::check_gemv<TypeParam, kit::host_side>(q, device{});
      }
}

template <class T> void is_exact(shape2 shape, bool transposed, index_t vectors = 1) {
  kit::gemv_case q;
  q.shape = shape;
  q.transposed = transposed;
  q.count = vectors;
  kit::check_gemv<T, kit::host_side>(q, device{});
}

TYPED_TEST(gemv_on_cpu, is_exact_on_lines_of_every_length) {
  for (const bool intel : {false, true}) {
    const cpu::pretend_intel as(intel);
    for (index_t n = 1; n <= 300; ++n)
      for (const bool transposed : {false, true})
        for (const index_t vectors : {1, 2}) is_exact<TypeParam>({39, n}, transposed, vectors);
  }
}

TYPED_TEST(gemv_on_cpu, is_exact_on_every_number_of_few_lines) {
  for (index_t lines = 1; lines <= 19; ++lines)
    for (const index_t n : {20, 77, 333, 1030, 20011})
      for (const bool transposed : {false, true}) {
        kit::gemv_case q;
        q.shape = {lines, n};
        q.transposed = transposed;
        q.shift = lines % 4;
        kit::check_gemv<TypeParam, kit::host_side>(q, device{});
        q.alpha = -2, q.beta = 3, q.padding = 5;
        kit::check_gemv<TypeParam, kit::host_side>(q, device{});
      }
}

/// A matrix of more than 32 MiB, beyond which the CPU reads lines in another order, with lines of n elements.
template <class T> void is_exact_on_lines_from_memory(index_t n, index_t padding = 0) {
  kit::gemv_case q;
  q.shape = {(index_t(1) << 25) / index_t(sizeof(T)) / n + 6, n};
  q.padding = padding;
  for (const bool intel : {false, true})
    for (const bool transposed : {false, true}) {
      const cpu::pretend_intel as(intel);
      SCOPED_TRACE(intel ? "as on Intel" : "as on AMD");
      q.transposed = transposed;
      kit::check_gemv<T, kit::host_side>(q, device{});
    }
}
TEST(gemv_on_cpu_with_lines_from_memory, is_exact) {
  for (const index_t n : {17, 45, 64, 100, 129, 300, 513, 1000, 2500, 20011}) {
    is_exact_on_lines_from_memory<double>(n);
    is_exact_on_lines_from_memory<float>(n);
  }
}
TEST(gemv_on_cpu_with_lines_from_memory, is_exact_on_short_ones) {
  for (const index_t n : {2, 3, 8, 13}) is_exact_on_lines_from_memory<double>(n);
  for (const index_t n : {4, 5, 12, 20}) is_exact_on_lines_from_memory<float>(n);
  for (const index_t n : {8, 40, 1000}) is_exact_on_lines_from_memory<bfloat16>(n);
}
TEST(gemv_on_cpu_with_lines_from_memory, is_exact_with_gaps) {
  for (const index_t n : {5, 100, 1030}) {
    is_exact_on_lines_from_memory<double>(n, 3);
    is_exact_on_lines_from_memory<float>(n, 3);
  }
}

/// Registers at the ends of lines overlap, or hold less than they could: what is not of a sum must not touch it.
TYPED_TEST(gemv_on_cpu, keeps_an_infinity_in_its_own_sums) {
  using V = vector_value<TypeParam>;
  const V infinity = std::numeric_limits<V>::infinity();
  for (index_t n = 1; n <= 150; ++n)
    for (const index_t line : {2, 20}) // among four, and left over
      for (const index_t place : {index_t(0), n - 1})
        for (const bool transposed : {false, true}) {
          host_array<TypeParam> a(21 * n, TypeParam(1.0f));
          a[line * n + place] = TypeParam(std::numeric_limits<float>::infinity());
          const host_array<V> x(transposed ? 21 : n, V(1));
          host_array<V> y(transposed ? n : 21);
          gemv<TypeParam>(1, {a.data(), {21, n}, n}, as_cview(x), 0, as_view(y), {transposed});
          for (index_t i = 0; i < y.size(); ++i)
            ASSERT_EQ(y[i], i == (transposed ? place : line) ? infinity : V(x.size())) << n << ' ' << i;
        }
}

/// Random data, so that another order of summation would show.
template <class T> struct random_case {
  using V = vector_value<T>;
  shape2 shape;
  host_array<T> a;
  host_array<V> x, z; // of cols and of rows elements

  explicit random_case(shape2 shape) : shape(shape), a(shape.rows * shape.cols) {
    const auto values = kit::random_vector<float>(a.size(), 1);
    for (index_t k = 0; k < a.size(); ++k) a[k] = T(values[k]);
    x = kit::random_vector<V>(shape.cols, 2);
    z = kit::random_vector<V>(shape.rows, 3);
  }
  host_array<V> product(bool transposed, bool f64_sums = false) const {
    host_array<V> y(transposed ? shape.cols : shape.rows);
    gemv<T>(1, {a.data(), shape, shape.cols}, as_cview(transposed ? z : x), 0, as_view(y), {transposed, f64_sums});
    return y;
  }
};

const shape2 random_shapes[] = {{70, 70}, {3, 70001}, {70001, 3}, {500, 800}, {40, 9001}, {9001, 40}};

TYPED_TEST(gemv_on_cpu, has_the_same_bits_for_every_number_of_threads) {
  for (const shape2 shape : random_shapes) {
    const random_case<TypeParam> q(shape);
    for (const bool transposed : {false, true}) {
      set_threads(1);
      const auto first = q.product(transposed);
      for (const int count : {2, 3, 5}) {
        set_threads(count);
        const auto again = q.product(transposed);
        EXPECT_TRUE(kit::same_bits(as_cview(first), as_cview(again))) << shape.rows << ' ' << count;
      }
    }
  }
  set_threads(0);
}

TYPED_TEST(gemv_on_cpu, stays_within_the_row_bound_and_is_its_own_adjoint) {
  using V = vector_value<TypeParam>;
  for (const shape2 shape : random_shapes) {
    const random_case<TypeParam> q(shape);
    const auto y = q.product(false), w = q.product(true);
    const long double u = std::numeric_limits<V>::epsilon() / 2;
    long double left = 0, right = 0, slack = 0;
    for (index_t i = 0; i < shape.rows; ++i) {
      long double sum = 0, size = 0;
      for (index_t j = 0; j < shape.cols; ++j) {
        const auto product = static_cast<long double>(V(q.a[i * shape.cols + j])) * q.x[j];
        sum += product;
        size += std::fabs(product);
      }
      ASSERT_LE(std::fabs(y[i] - sum), static_cast<long double>(shape.cols + 2) * u * size) << i;
      left += static_cast<long double>(y[i]) * q.z[i];
      slack += size * std::fabs(static_cast<long double>(q.z[i]));
    }
    for (index_t j = 0; j < shape.cols; ++j) right += static_cast<long double>(w[j]) * q.x[j];
    EXPECT_LE(std::fabs(left - right), static_cast<long double>(shape.rows + shape.cols + 4) * u * slack);
  }
}

template <class T> void is_exact_where_y_goes_past_the_caches() {
  is_exact<T>({2200003, 4}, false);
  kit::gemv_case q;
  q.shape = {4, 2200003};
  q.transposed = true;
  for (q.shift = 0; q.shift < 4; ++q.shift)
    for (q.beta = 0; q.beta < 2; ++q.beta) kit::check_gemv<T, kit::host_side>(q, device{});
}
TEST(gemv_on_cpu_with_long_outputs, is_exact) {
  is_exact_where_y_goes_past_the_caches<double>();
  is_exact_where_y_goes_past_the_caches<float>();
}

TEST(gemv_on_cpu_in_double, sums_of_float_are_closer_to_the_truth) {
  const random_case<float> q({4, 70001});
  const auto y = q.product(false, true);
  for (index_t i = 0; i < 4; ++i) {
    long double sum = 0;
    for (index_t j = 0; j < q.shape.cols; ++j) sum += static_cast<long double>(q.a[i * q.shape.cols + j]) * q.x[j];
    EXPECT_LE(std::fabs(y[i] - sum), 0x1p-24L * std::fabs(sum) * 1.001L);
  }
}

TEST(half, converts_every_value_there_and_back) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    half h;
    h.bits = static_cast<std::uint16_t>(bits);
    bfloat16 b;
    b.bits = h.bits;
    const bool nan_h = (bits & 0x7fff) > 0x7c00, nan_b = (bits & 0x7fff) > 0x7f80;
    if (nan_h) EXPECT_TRUE(std::isnan(float(h)));
    else EXPECT_EQ(half(float(h)).bits, bits);
    if (nan_b) EXPECT_TRUE(std::isnan(float(b)));
    else EXPECT_EQ(bfloat16(float(b)).bits, bits);
  }
  EXPECT_EQ(float(half(1.0f)), 1.0f);
  EXPECT_EQ(float(half(65504.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(float(half(65520.0f))));
  EXPECT_EQ(float(half(0x1p-24f)), 0x1p-24f);
  EXPECT_EQ(half(0x1p-25f).bits, 0);                          // a tie goes to even
  EXPECT_EQ(half(1 + 0x1p-11f).bits, half(1.0f).bits);        // and here
  EXPECT_EQ(half(1 + 0x1.8p-10f).bits, half(1.0f).bits + 2);  // and there
  EXPECT_EQ(bfloat16(1 + 0x1p-8f).bits, bfloat16(1.0f).bits); // of bfloat16 too
  EXPECT_EQ(bfloat16(1 + 0x1.8p-7f).bits, bfloat16(1.0f).bits + 2);
}

/// The sentence with which a call is refused.
template <class F> std::string refusal(F call) {
  try {
    call();
  } catch (const error& e) {
    EXPECT_EQ(e.kind, fault::usage);
    return e.what();
  }
  return "accepted";
}

gemv_options with_kernel(const char* name) {
  gemv_options o;
  o.kernel = name;
  return o;
}

TEST(gemv, refuses_what_does_not_fit_in_one_sentence) {
  host_array<double> a(12, 1.0), x(4, 1.0), y(3, 1.0), many(100, 0.0);
  const dense_view<double> m{a.data(), {3, 4}, 4};
  const auto says = [&](const char* part, auto call) {
    const std::string what = refusal(call);
    EXPECT_NE(what.find(part), std::string::npos) << what;
  };
  says("leading dimension is 3", [&] { gemv<double>(1, {a.data(), {3, 4}, 3}, as_cview(x), 0, as_view(y)); });
  says("x has 3 elements", [&] { gemv<double>(1, m, as_cview(y), 0, as_view(y)); });
  says("y has 4 elements", [&] { gemv<double>(1, m, as_cview(x), 0, vectors<double>(many.data(), 4)); });
  says("give 1 or more, or below 0 to go backwards", [&] { gemv<double>(1, m, {x.data(), 4, 0}, 0, as_view(y)); });
  says("stride of y is 0", [&] { gemv<double>(1, m, as_cview(x), 0, {y.data(), 3, 0}); });
  says("9 vectors", [&] { gemv<double>(1, m, {x.data(), 4, 1, 9, 0}, 0, {many.data(), 3, 1, 9, 3}); });
  says("x has 2 vectors and y has 1", [&] { gemv<double>(1, m, {x.data(), 4, 1, 2, 0}, 0, as_view(y)); });
  says("vectors of y overlap", [&] { gemv<double>(1, m, {x.data(), 4, 1, 2, 0}, 0, {many.data(), 3, 1, 2, 2}); });
  says("x and y overlap", [&] { gemv<double>(1, m, {many.data(), 4}, 0, {many.data() + 3, 3}); });
  says("x and y overlap", [&] { gemv<double>(1, m, {many.data() + 3, 4, -1}, 0, {many.data() + 2, 3}); });
  says("A and y overlap", [&] { gemv<double>(1, m, as_cview(x), 0, {a.data() + 11, 3}); });
  says("problems of the batch overlap", [&] {
    gemv<double>(1, m, as_cview(x), 0, {many.data(), 3}, {}, {2, 0, 0, 2});
  });
  says("sizes must not be negative", [&] { gemv<double>(1, {a.data(), {-1, 4}, 4}, as_cview(x), 0, as_view(y)); });
  says("a batch of -1", [&] { gemv<double>(1, m, as_cview(x), 0, as_view(y), {}, {-1}); });
  says("A points nowhere", [&] { gemv<double>(1, {nullptr, {3, 4}, 4}, as_cview(x), 0, as_view(y)); });
  says("more than any memory holds", [&] {
    gemv<double>(1, {a.data(), {3, 4}, index_t(1) << 61}, as_cview(x), 0, as_view(y));
  });
  says("no kernel 'fast'", [&] { gemv<double>(1, m, as_cview(x), 0, as_view(y), with_kernel("fast")); });
  says("does not serve", [&] { gemv<double>(1, m, as_cview(x), 0, as_view(y), with_kernel("across")); });
  host_array<half> h(12);
  host_array<float> xf(4, 1.0f), yf(3);
  says("sums in double", [&] { gemv<half>(1, {h.data(), {3, 4}, 4}, as_cview(xf), 0, as_view(yf), {false, true}); });
}

} // namespace
} // namespace furrow
