// SPDX-License-Identifier: BSD-3-Clause
#include "matrix/multiply.hpp"
#include "matrix/transpose.hpp"

#include <furrow/furrow.hpp>

#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace furrow {
namespace {

/// Values in [-1, 1), `length` draws a row, duplicates kept once; some rows stay empty.
template <class V> row_matrix<V> random_rows(index_t rows, index_t cols, index_t length, std::uint64_t seed) {
  kit::splitmix random(seed);
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < rows; ++i)
    for (index_t k = random.below(4) == 0 ? length : 0; k < length; ++k)
      entries.push_back({i, random.below(cols), random.value()});
  return to_rows(convert_values<V>(kit::assemble({rows, cols}, std::move(entries))));
}

struct dense {
  shape2 shape;
  std::vector<long double> value, size; ///< A, |A|
  long double& at(index_t i, index_t j) { return value[i * shape.cols + j]; }
};

template <class V> dense dense_of(const row_matrix<V>& a) {
  const auto places = static_cast<std::size_t>(a.shape.rows * a.shape.cols);
  dense d{a.shape, std::vector<long double>(places), std::vector<long double>(places)};
  for (index_t i = 0; i < a.shape.rows; ++i)
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      d.value[i * a.shape.cols + a.col[k]] += a.val[k];
      d.size[i * a.shape.cols + a.col[k]] += std::abs(a.val[k]);
    }
  return d;
}

dense product(const dense& a, const dense& b) {
  const auto places = static_cast<std::size_t>(a.shape.rows * b.shape.cols);
  dense c{{a.shape.rows, b.shape.cols}, std::vector<long double>(places), std::vector<long double>(places)};
  for (index_t i = 0; i < a.shape.rows; ++i)
    for (index_t k = 0; k < a.shape.cols; ++k)
      for (index_t j = 0; j < b.shape.cols; ++j) {
        c.value[i * b.shape.cols + j] += a.value[i * a.shape.cols + k] * b.value[k * b.shape.cols + j];
        c.size[i * b.shape.cols + j] += a.size[i * a.shape.cols + k] * b.size[k * b.shape.cols + j];
      }
  return c;
}

template <class V> void expect_near(const row_matrix<V>& got, const dense& wanted) {
  ASSERT_EQ(got.shape, wanted.shape);
  for (index_t i = 0; i < got.shape.rows; ++i)
    for (index_t k = got.row_ptr[i] + 1; k < got.row_ptr[i + 1]; ++k) ASSERT_LT(got.col[k - 1], got.col[k]);
  const dense have = dense_of(got);
  for (std::size_t k = 0; k < have.value.size(); ++k)
    ASSERT_LE(std::abs(have.value[k] - wanted.value[k]), std::numeric_limits<V>::epsilon() * 4 * wanted.size[k]) << k;
}

template <class V> bool same_bits(const row_matrix<V>& a, const row_matrix<V>& b) {
  return a.shape == b.shape && std::ranges::equal(a.row_ptr, b.row_ptr) && std::ranges::equal(a.col, b.col) &&
         std::memcmp(a.val.data(), b.val.data(), a.val.byte_count()) == 0;
}

template <class V> struct products_of_rows : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(products_of_rows, precisions);

TYPED_TEST(products_of_rows, are_those_of_dense_matrices) {
  using V = TypeParam;
  for (const index_t length : {1, 3, 9, 60}) {
    const auto a = random_rows<V>(70, 50, length, 1), b = random_rows<V>(50, 90, length, 2);
    expect_near(multiply(a.view(), b.view()), product(dense_of(a), dense_of(b)));
    const auto r = random_rows<V>(20, 70, length, 3);
    expect_near(triple_product(r.view(), a.view(), b.view()), product(dense_of(r), product(dense_of(a), dense_of(b))));
  }
}

TYPED_TEST(products_of_rows, take_empty_matrices) {
  using V = TypeParam;
  const auto a = random_rows<V>(5, 0, 0, 1), b = random_rows<V>(0, 4, 0, 2);
  const auto c = multiply(a.view(), b.view());
  EXPECT_EQ(c.shape, (shape2{5, 4}));
  EXPECT_EQ(c.nnz(), 0);
  EXPECT_EQ(transposed(a.view()).shape, (shape2{0, 5}));
}

TYPED_TEST(products_of_rows, have_the_same_bits_for_every_number_of_threads) {
  using V = TypeParam;
  const auto a = to_rows(kit::as_precision<V>(kit::laplacian(40, 40, 30)));
  const auto p = random_rows<V>(48000, 6000, 3, 7);
  set_threads(1);
  const auto r = transposed(p.view());
  const auto c = triple_product(r.view(), a.view(), p.view()), t = multiply(a.view(), p.view());
  EXPECT_TRUE(same_bits(c, multiply(r.view(), multiply(a.view(), p.view()).view())) || sizeof(V) == 4);
  for (const int threads : {2, 3, 8}) {
    set_threads(threads);
    EXPECT_TRUE(same_bits(r, transposed(p.view()))) << threads;
    EXPECT_TRUE(same_bits(t, multiply(a.view(), p.view()))) << threads;
    EXPECT_TRUE(same_bits(c, triple_product(r.view(), a.view(), p.view()))) << threads;
  }
  set_threads(0);
}

TYPED_TEST(products_of_rows, transpose_by_the_definition) {
  using V = TypeParam;
  const auto a = to_rows(kit::as_precision<V>(kit::assemble({2, 3}, {{0, 0, 1}, {0, 2, 2}, {1, 0, 3}})));
  const auto t = transposed(a.view());
  EXPECT_EQ(t.shape, (shape2{3, 2}));
  EXPECT_EQ(std::vector<std::int32_t>(t.col.begin(), t.col.end()), (std::vector<std::int32_t>{0, 1, 0}));
  EXPECT_EQ(std::vector<V>(t.val.begin(), t.val.end()), (std::vector<V>{1, 3, 2}));
  EXPECT_EQ(std::vector<index_t>(t.row_ptr.begin(), t.row_ptr.end()), (std::vector<index_t>{0, 2, 2, 3}));
}

TYPED_TEST(products_of_rows, transposing_twice_changes_nothing) {
  using V = TypeParam;
  const auto a = random_rows<V>(3000, 700, 90, 5);
  const auto t = transposed(a.view());
  EXPECT_TRUE(same_bits(a, transposed(t.view())));
  for (index_t i = 0; i < 700; ++i)
    for (index_t k = t.row_ptr[i] + 1; k < t.row_ptr[i + 1]; ++k) ASSERT_LT(t.col[k - 1], t.col[k]);
}

} // namespace
} // namespace furrow
