// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/vector_operations.hpp>

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"
#include "kit/solve_check.hpp"

#include <furrow/formats.hpp>
#include <furrow/stats.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace furrow {
namespace {

template <class V> struct vector_operations : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(vector_operations, precisions);

TYPED_TEST(vector_operations, add_writes_each_element_once) {
  using V = TypeParam;
  for (const index_t n : {0, 1, 7, 100000}) {
    const auto v1 = kit::random_vector<V>(n, 1), v2 = kit::random_vector<V>(n, 2);
    host_array<V> sum(n, std::numeric_limits<V>::quiet_NaN()), in_place(v1);
    add<V>(v1, V(-0.5), v2, sum);
    add<V>(in_place, V(-0.5), v2, in_place);
    for (index_t i = 0; i < n; ++i) {
      ASSERT_NEAR(sum[i], v1[i] - V(0.5) * v2[i], 2 * std::numeric_limits<V>::epsilon()) << i;
      ASSERT_EQ(sum[i], in_place[i]) << i;
    }
  }
}

TYPED_TEST(vector_operations, dot_and_norm_have_the_same_bits_for_every_number_of_threads) {
  using V = TypeParam;
  const index_t n = 300001;
  const auto x = kit::random_vector<V>(n, 3), y = kit::random_vector<V>(n, 4);
  long double exact = 0, size = 0;
  for (index_t i = 0; i < n; ++i) {
    exact += static_cast<long double>(x[i]) * y[i];
    size += std::abs(static_cast<long double>(x[i]) * y[i]);
  }
  const double once = dot<V>(x, y), norm = norm2<V>(x);
  EXPECT_NEAR(once, double(exact), double(size) * 1e-12);
  EXPECT_EQ(norm, std::sqrt(dot<V>(x, x)));
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    EXPECT_EQ(dot<V>(x, y), once) << count;
  }
  set_threads(0);
  EXPECT_EQ(dot<V>({}, {}), 0);
}

TEST(vector_norms, are_right_where_squares_leave_the_range) {
  for (const double size : {5e-324, 1e-300, 1e-170, 1e170, 1e307}) {
    const std::vector<double> x{3 * size, 0, -4 * size};
    EXPECT_DOUBLE_EQ(norm2<double>(x), 5 * size);
  }
  const double inf = std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::max();
  EXPECT_EQ(norm2<double>(std::vector<double>{most, most}), inf);
  EXPECT_EQ(norm2<double>(std::vector<double>{1e200, -inf}), inf);
  EXPECT_TRUE(std::isnan(norm2<double>(std::vector<double>{1e200, std::nan(""), inf})));
  EXPECT_TRUE(std::isnan(norm2<double>(std::vector<double>{1e-200, std::nan("")})));
  EXPECT_EQ(norm2<double>(std::vector<double>(3, -0.0)), 0);
  EXPECT_DOUBLE_EQ(norm2<float>(std::vector<float>{3e38F, 1e-45F}), 3e38F);
}

TYPED_TEST(vector_operations, residual_is_b_minus_the_product) {
  using V = TypeParam;
  const auto wide = kit::laplacian(20, 10); // its entries are whole numbers
  const auto a = kit::as_precision<V>(wide);
  const index_t n = a.shape.rows;
  const auto op = make<V>(choose(measure(a), precision_of<V>, {}, {"csr"}), {}, a);
  const auto x = kit::random_vector<V>(n, 5);
  auto b = kit::random_vector<V>(n, 6);
  const auto product = kit::times<V>(wide, x);
  host_array<V> r(n, std::numeric_limits<V>::quiet_NaN());
  residual<V>(*op, b, x, r);
  for (index_t i = 0; i < n; ++i) ASSERT_NEAR(r[i], b[i] - product[i], 40 * std::numeric_limits<V>::epsilon()) << i;
  residual<V>(*op, b, x, b);
  EXPECT_TRUE(kit::same_bits(as_cview(b), as_cview(r)));
}

template <class F> std::string complaint_of_call(F&& f) { return kit::said_by(fault::usage, f); }

TEST(vector_operations, say_which_of_them_was_called_wrongly) {
  std::vector<double> three(3), four(4), r(3);
  EXPECT_EQ(complaint_of_call([&] { dot<double>(three, four); }),
            "dot: x has 3 elements and y has 4: give vectors of one length");
  EXPECT_EQ(complaint_of_call([&] { add<double>(three, 1, three, four); }),
            "add: v1 has 3 elements and the sum has 4: give vectors of one length");
  EXPECT_EQ(
      complaint_of_call([&] { add<double>(view<double>(four.data(), 3), 1, three, view<double>(four.data() + 1, 3)); }),
      "add: the sum shares part of a vector's memory: give it its own, or that of v1 or v2");
  EXPECT_EQ(complaint_of_call([&] { dot<double>(cview<double>(nullptr, 3), three); }),
            "dot: x has no memory: give its elements");
  const auto a = kit::laplacian(3);
  const auto op = make<double>(choose(measure(a), precision::f64, {}), {}, a);
  EXPECT_EQ(complaint_of_call([&] { residual<double>(*op, four, three, r); }),
            "residual: b has 4 elements, x 3 and r 3 for a matrix of 3 x 3: give b and r one a row, x one a column");
  EXPECT_EQ(complaint_of_call([&] { residual<double>(*op, r, three, three); }),
            "residual: x and r share memory: give each its own");
  EXPECT_EQ(complaint_of_call([&] { norm2<double>(cview<double>(three.data(), -3)); }),
            "dot: x has -3 elements: give none or more");
}

} // namespace
} // namespace furrow
