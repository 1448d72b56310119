// SPDX-License-Identifier: BSD-3-Clause
#include "matrix/several.hpp"

#include "kit/guarded.hpp"
#include "kit/operator_check.hpp"
#include "kit/serves.hpp"

#include <furrow/generate.hpp>
#include <furrow/matrix.hpp>

#include <cmath>
#include <limits>

namespace furrow {
namespace {

template <class V> struct several_vectors : testing::Test {
  static index_t place(index_t i, index_t k, index_t n, index_t count, storage_order order) {
    return order == storage_order::row_major ? i * count + k : k * n + i;
  }

  /// Every vector of Y <- alpha A X + beta Y against the reference; beta == 0 does not read Y.
  static void check(const any_operator<V>& op, const coo<V>& a, index_t count, storage_order order, V alpha, V beta) {
    const index_t rows = a.shape.rows, cols = a.shape.cols;
    const auto x = kit::random_vector<V>(cols * count, 9), before = kit::random_vector<V>(rows * count, 4);
    kit::guarded<V, kit::host_side> guarded_x(x);
    auto guarded_y = beta == V(0) ? kit::guarded<V, kit::host_side>::unwritten(rows * count)
                                  : kit::guarded<V, kit::host_side>(before);
    apply_several<V>(op, alpha, guarded_x.get(), beta, guarded_y.get(), count, order);
    const auto y = guarded_y.take();
    for (index_t k = 0; k < count; ++k) {
      host_array<V> one_x(cols), was(rows), one_y(rows);
      for (index_t i = 0; i < cols; ++i) one_x[i] = x[place(i, k, cols, count, order)];
      for (index_t i = 0; i < rows; ++i) {
        was[i] = before[place(i, k, rows, count, order)];
        one_y[i] = y[place(i, k, rows, count, order)];
      }
      const auto truth = kit::reference_product(a, alpha, as_cview(one_x), beta, as_cview(was));
      EXPECT_LE(kit::row_error(truth, as_cview(one_y)), 1) << "vector " << k << " of " << count;
    }
  }
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(several_vectors, precisions);

TYPED_TEST(several_vectors, are_multiplied_in_both_orders_in_every_format) {
  using V = TypeParam;
  for (const auto& matrix :
       {kit::laplacian(13, 7), kit::assemble({5, 9}, {{0, 8, 2}, {2, 0, -1}, {2, 4, 3}, {4, 8, 7}}),
        kit::from_function(40, [](index_t i, index_t j) { return 1.0 / double(i + 2 * j + 1); })}) {
    const auto a = kit::as_precision<V>(matrix);
    for (const format_entry* f : formats()) {
      if (!kit::serves(*f, matrix)) continue;
      SCOPED_TRACE(f->name);
      const auto op = f->backend(device{}).template make<V>()(a, "", f->backend(device{}).kernels.front().name);
      for (const auto order : {storage_order::row_major, storage_order::col_major})
        for (const index_t count : {2, 3, 5, 8, 13, 16, 17, 33}) {
          this->check(*op, a, count, order, V(1), V(0));
          this->check(*op, a, count, order, V(-2), V(3));
          this->check(*op, a, count, order, V(0), V(3));
          this->check(*op, a, count, order, V(2), V(0));
        }
    }
  }
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

} // namespace
} // namespace furrow
