// SPDX-License-Identifier: BSD-3-Clause
#include "kit/said_by.hpp"
#include "kit/several_check.hpp"

#include <furrow/generate.hpp>
#include <furrow/matrix.hpp>

#include <cmath>
#include <limits>

namespace furrow {
namespace {

template <class V> struct several_vectors : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(several_vectors, precisions);

TYPED_TEST(several_vectors, are_multiplied_in_both_orders_in_every_format) {
  kit::check_several_in_all_formats<TypeParam, kit::host_side>(device{});
}

TYPED_TEST(several_vectors, lie_as_a_matrix_is_told) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(generate("elasticity3d:5").a);
  const matrix<V> m(a);
  const index_t n = a.shape.rows, count = 6;
  host_array<V> x(n * count), turned(n * count), y(n * count), turned_y(n * count);
  for (index_t i = 0; i < n; ++i)
    for (index_t k = 0; k < count; ++k) turned[k * n + i] = x[i * count + k] = V((i * 7 + k * 3) % 11 - 5);
  m.apply(1, as_cview(x), 0, as_view(y), count, storage_order::row_major);
  m.apply(1, as_cview(turned), 0, as_view(turned_y), count);
  for (index_t i = 0; i < n; ++i)
    for (index_t k = 0; k < count; ++k) ASSERT_EQ(y[i * count + k], turned_y[k * n + i]);
}

TYPED_TEST(several_vectors, have_the_same_bits_for_every_number_of_threads) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(generate("elasticity3d:9").a);
  const matrix<V> m(a);
  const auto x = kit::random_vector<V>(a.shape.cols * 11, 3);
  host_array<V> first(a.shape.rows * 11), again(a.shape.rows * 11);
  set_threads(1);
  m.apply(2, as_cview(x), 0, as_view(first), 11);
  set_threads(3);
  m.apply(2, as_cview(x), 0, as_view(again), 11);
  set_threads(0);
  EXPECT_TRUE(kit::same_bits(as_cview(first), as_cview(again)));
}

TEST(several_vectors_of_csr, keep_their_infinities_to_themselves) {
  const auto a = kit::laplacian(13, 7);
  const matrix<double> m(a, {.format = "csr"});
  const index_t n = a.shape.rows;
  host_array<double> x(n * 3, 1.0), y(n * 3);
  x[n + 4] = std::numeric_limits<double>::infinity(); // of the second vector
  m.apply(1, as_cview(x), 0, as_view(y), 3);
  for (const index_t k : {0, 2})
    for (index_t i = 0; i < n; ++i) EXPECT_TRUE(std::isfinite(y[k * n + i]));
  EXPECT_FALSE(std::isfinite(y[n + 4]));
}

TEST(several_vectors_are_refused, that_are_no_such_number_or_point_nowhere) {
  const matrix<double> m(generate("poisson2d:10").a);
  const host_array<double> x(200, 1.0);
  host_array<double> y(200, 7.0);
  const index_t too_many = (index_t(1) << 62) + 2; // 100 times that are 200, modulo 2^64
  for (const auto order : {storage_order::col_major, storage_order::row_major}) {
    const auto both = [&](std::string_view words, cview<double> from, view<double> to, index_t count) {
      kit::expect_refusal(fault::usage, words, [&] { m.apply(1, from, 0, to, count, order); });
      kit::expect_refusal(fault::usage, words, [&] { m.apply_transposed(1, from, 0, to, count, order); });
    };
    both("x has 200 and y 200 elements for 4611686018427387906 vectors", as_cview(x), as_view(y), too_many);
    both("point nowhere", {nullptr, 200}, as_view(y), 2);
    both("point nowhere", as_cview(x), {nullptr, 200}, 2);
  }
  kit::expect_refusal(fault::usage, "X has 200 and Y has 200 elements",
                      [&] { m.op()->apply_block(as_cview(x), as_view(y), too_many); });
  for (const double v : y) EXPECT_EQ(v, 7);
}

} // namespace
} // namespace furrow
