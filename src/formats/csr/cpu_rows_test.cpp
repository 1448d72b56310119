// SPDX-License-Identifier: BSD-3-Clause
#include "cpu_rows.hpp"

#include "backends/row_kernel.hpp"

#include <furrow/storage.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace furrow {
namespace {

template <class V> struct sample {
  csr<V, std::int32_t, host_array> a;
  host_array<V> x;
  std::vector<long double> exact, magnitude;
};

/// Rows of the lengths asked for, columns spread over 300.
template <class V> sample<V> make_sample(const std::vector<int>& lengths) {
  std::mt19937 random(7);
  constexpr int cols = 300;
  index_t nnz = 0;
  for (const int n : lengths) nnz += n;
  const auto rows = static_cast<index_t>(lengths.size());
  sample<V> s{{{rows, cols}, host_array<std::int32_t>(rows + 1), host_array<std::int32_t>(nnz), host_array<V>(nnz)},
              host_array<V>(cols),
              std::vector<long double>(lengths.size()),
              std::vector<long double>(lengths.size())};
  const auto number = [&] { return static_cast<V>(std::uniform_real_distribution<double>(-1, 1)(random)); };
  for (V& v : as_view(s.x)) v = number();
  s.a.row_ptr[0] = 0;
  index_t k = 0;
  for (index_t r = 0; r < rows; ++r) {
    for (int j = 0; j < lengths[r]; ++j, ++k) {
      s.a.col[k] = static_cast<std::int32_t>(index_t(j) * cols / lengths[r]);
      s.a.val[k] = number();
      const long double product = (long double)(s.a.val[k]) * (long double)(s.x[s.a.col[k]]);
      s.exact[r] += product;
      s.magnitude[r] += std::abs(product);
    }
    s.a.row_ptr[r + 1] = static_cast<std::int32_t>(k);
  }
  return s;
}

/// Lengths 0 to 80 once each, some long ones, and a random mixture.
std::vector<int> many_lengths() {
  std::vector<int> lengths;
  for (int n = 0; n <= 80; ++n) lengths.push_back(n);
  for (const int n : {300, 0, 0, 255, 256, 1, 127, 64, 65}) lengths.push_back(n);
  std::mt19937 random(3);
  for (int k = 0; k < 500; ++k) lengths.push_back(static_cast<int>(random() % 20));
  return lengths;
}

template <class Rows, class V> std::vector<V> product(const sample<V>& s, index_t cut) {
  const auto view = view_of(s.a);
  std::vector<V> y(s.exact.size(), std::numeric_limits<V>::quiet_NaN());
  const auto rows = static_cast<index_t>(y.size());
  for (index_t first = 0; first < rows; first += cut)
    Rows::sums(view, first, std::min(first + cut, rows), as_cview(s.x), y.data() + first);
  return y;
}

template <class Pair> struct csr_cpu_rows : testing::Test {};
template <class R, class T> struct pairing {
  using rows = R;
  using value = T;
};
using pairings = testing::Types<pairing<csr_rows::direct, double>, pairing<csr_rows::direct, float>,
                                pairing<csr_rows::gathered, double>, pairing<csr_rows::gathered, float>,
                                pairing<csr_rows::staged, double>, pairing<csr_rows::staged, float>>;
TYPED_TEST_SUITE(csr_cpu_rows, pairings);

TYPED_TEST(csr_cpu_rows, every_row_is_within_its_bound) {
  using V = typename TypeParam::value;
  const auto s = make_sample<V>(many_lengths());
  const auto y = product<typename TypeParam::rows>(s, 1 << 20);
  for (std::size_t r = 0; r < y.size(); ++r) {
    const index_t length = s.a.row_ptr[r + 1] - s.a.row_ptr[r];
    const long double bound = (length + 2) * (long double)(std::numeric_limits<V>::epsilon() / 2) * s.magnitude[r];
    EXPECT_LE(std::abs(y[r] - s.exact[r]), bound) << "row " << r << " of length " << length;
  }
}

TYPED_TEST(csr_cpu_rows, the_bits_of_a_row_do_not_depend_on_its_neighbours) {
  const auto s = make_sample<typename TypeParam::value>(many_lengths());
  const auto whole = product<typename TypeParam::rows>(s, 1 << 20);
  for (const index_t cut : {1, 3, 8, 32, 100}) EXPECT_EQ(product<typename TypeParam::rows>(s, cut), whole) << cut;
}

TYPED_TEST(csr_cpu_rows, an_infinity_stays_in_its_row) {
  using V = typename TypeParam::value;
  auto s = make_sample<V>(std::vector<int>(100, 5));
  s.a.val[5 * 50] = std::numeric_limits<V>::infinity();
  const auto y = product<typename TypeParam::rows>(s, 1 << 20);
  for (std::size_t r = 0; r < y.size(); ++r) EXPECT_EQ(std::isfinite(y[r]), r != 50) << r;
}

host_array<std::int32_t> offsets_of(const std::vector<int>& lengths) {
  host_array<std::int32_t> row_ptr(static_cast<index_t>(lengths.size()) + 1, 0);
  for (std::size_t r = 0; r < lengths.size(); ++r) row_ptr[r + 1] = row_ptr[r] + lengths[r];
  return row_ptr;
}

TEST(csr_irregular, patterns_that_repeat_are_regular_and_random_lengths_are_not) {
  std::vector<int> stencil, random;
  std::mt19937 draw(1);
  for (int r = 0; r < 40000; ++r) {
    stencil.push_back(r % 200 == 0 ? 4 : 5);
    random.push_back(3 + static_cast<int>(draw() % 20));
  }
  EXPECT_FALSE(csr_rows::irregular(as_cview(offsets_of(stencil))));
  EXPECT_TRUE(csr_rows::irregular(as_cview(offsets_of(random))));
  random.resize(1000); // few rows: learned by heart
  EXPECT_FALSE(csr_rows::irregular(as_cview(offsets_of(random))));
  EXPECT_FALSE(csr_rows::irregular(as_cview(offsets_of({}))));
}

TEST(rows_on_cpu, alpha_and_beta) {
  const auto s = make_sample<double>(many_lengths());
  const auto rows = static_cast<index_t>(s.exact.size());
  const auto pieces = cut_rows(
      rows, [&](index_t r) { return index_t(s.a.row_ptr[r]); }, 128);
  ASSERT_GT(pieces.count(), 10);
  const auto view = view_of(s.a);
  const auto plain = product<csr_rows::direct>(s, 1 << 20);
  host_array<double> y(rows, std::numeric_limits<double>::quiet_NaN());
  rows_on_cpu<csr_rows::direct>(view, pieces, 2.0, as_cview(s.x), 0.0, as_view(y)); // beta == 0 does not read y
  for (index_t r = 0; r < rows; ++r) ASSERT_EQ(y[r], 2 * plain[r]) << r;
  rows_on_cpu<csr_rows::direct>(view, pieces, 1.0, as_cview(s.x), -1.0, as_view(y));
  for (index_t r = 0; r < rows; ++r) ASSERT_NEAR(y[r], -plain[r], 1e-15) << r;
  const cview<double> nothing(nullptr, s.x.size()); // alpha == 0 does not read x
  const csr<double, std::int32_t, cview> no_matrix{s.a.shape, {}, {}, {}};
  rows_on_cpu<csr_rows::direct>(no_matrix, pieces, 0.0, nothing, 3.0, as_view(y));
  for (index_t r = 0; r < rows; ++r) ASSERT_NEAR(y[r], -3 * plain[r], 1e-14) << r;
}

} // namespace
} // namespace furrow
