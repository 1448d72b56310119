// SPDX-License-Identifier: BSD-3-Clause
#include "band_lu.hpp"
#include "columns.hpp"
#include "factors.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/refused_by.hpp"
#include "preconditioners/stop.hpp"

#include <furrow/device.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

namespace furrow {
namespace {

/// As it lies in the places of LAPACK, in which pivots from under the diagonal fill in `below` diagonals more.
struct band {
  band(index_t n, index_t below, index_t above, unsigned seed)
      : lu{n, below, above, below + above, 2 * below + above + 1, false, nullptr},
        values(std::size_t(n * lu.step), 0.0), pivots(std::size_t(n), 0) {
    const auto r = kit::random_vector<double>(n * (below + above + 1), seed);
    lu.at = values.data();
    for (index_t j = 0, k = 0; j < n; ++j)
      for (index_t i = std::max<index_t>(0, j - above); i <= std::min(n - 1, j + below); ++i)
        lu.column(j)[i - j] = r[k++];
  }

  lu::plain_lu lu;
  std::vector<double> values;
  std::vector<int> pivots;
};

TEST(band_lu, has_the_pivots_and_the_numbers_of_plain_loops) {
  for (const auto& [n, below, above] : {std::tuple<index_t, index_t, index_t>{1, 0, 0},
                                        {64, 63, 63},
                                        {65, 64, 0},
                                        {200, 70, 5},
                                        {200, 5, 70},
                                        {300, 1, 1},
                                        {333, 65, 130},
                                        {500, 100, 100},
                                        {130, 129, 129}})
    for (const int count : {1, 3}) {
      SCOPED_TRACE(testing::Message() << n << ' ' << below << ' ' << above << ' ' << count);
      set_threads(count);
      band one(n, below, above, 3), other(n, below, above, 3);
      ASSERT_EQ(lu::factor_plain(one.lu, one.pivots.data()), 0);
      ASSERT_EQ(lu::factor_band_by_blocks(other.lu, other.pivots.data()), 0);
      EXPECT_EQ(one.pivots, other.pivots);
      double off = 0, most = 0;
      for (std::size_t k = 0; k < one.values.size(); ++k) {
        off = std::max(off, std::abs(one.values[k] - other.values[k]));
        most = std::max(most, std::abs(one.values[k]));
      }
      EXPECT_LT(off, 1e-7 * most); // of condition numbers up to 1e6
      if (below > 1) {
        EXPECT_FALSE(std::ranges::is_sorted(one.pivots)) << "rows that change places";
      }
    }
  set_threads(0);
}

TEST(band_lu, names_the_column_without_a_pivot) {
  for (const index_t column : {0, 63, 64, 170}) {
    band b(200, 70, 70, 5);
    for (index_t i = std::max<index_t>(0, column - 70); i <= std::min<index_t>(199, column + 70); ++i)
      b.lu.column(column)[i - column] = 0;
    EXPECT_EQ(lu::factor_band_by_blocks(b.lu, b.pivots.data()), column + 1);
  }
}

TEST(band_lu, ends_where_it_is_told_to) {
  band b(2000, 70, 70, 5);
  int asked = 0;
  const stops_set_up stop([&]() -> std::optional<refusal> {
    if (++asked < 20) return {};
    return refusal{status::interrupted, "enough"};
  });
  kit::expect_refusal(status::interrupted, "enough", [&] { lu::factor_band_by_blocks(b.lu, b.pivots.data()); });
  EXPECT_EQ(asked, 20);
}

/// Entries by the million go from row to row to column before anything is factored.
TEST(dense_factors, are_asked_for_an_end_before_they_begin) {
  const auto full = kit::from_function(300, [](index_t i, index_t j) { return i == j ? 2.0 : 1e-3; });
  int asked = 0;
  const stops_set_up stop([&]() -> std::optional<refusal> { return ++asked, std::nullopt; });
  const auto a = lu::scale_and_sort(full).a;
  EXPECT_GE(asked, 300 / 16);
  asked = 0;
  EXPECT_GT(lu::factor_dense(a)->bytes(), 0);
  EXPECT_GE(asked, 300 / 16 + 300 / 16);
}

} // namespace
} // namespace furrow
