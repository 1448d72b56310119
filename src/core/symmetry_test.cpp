// SPDX-License-Identifier: BSD-3-Clause
#include "symmetry.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace furrow {
namespace {

std::string complaint_of_symmetry(const coo<double>& a) {
  return kit::said_by(fault::input, [&] { check_symmetry(a); });
}

TEST(symmetry, of_small_matrices) {
  EXPECT_TRUE(is_symmetric(kit::assemble({0, 0}, {})));
  EXPECT_TRUE(is_symmetric(kit::assemble({5, 5}, {})));
  EXPECT_TRUE(is_symmetric(kit::diagonal({1, 2, 3})));
  EXPECT_TRUE(is_symmetric(kit::laplacian(9, 8, 7)));
  EXPECT_FALSE(is_symmetric(kit::assemble({2, 3}, {})));
  EXPECT_FALSE(is_symmetric(kit::assemble({2, 2}, {{0, 1, 1}})));
  EXPECT_FALSE(is_symmetric(kit::assemble({2, 2}, {{1, 0, 1}})));
  EXPECT_FALSE(is_symmetric(kit::assemble({2, 2}, {{0, 1, 1}, {1, 0, -1}})));
}

TEST(symmetry, an_absent_entry_equals_a_stored_zero) {
  EXPECT_TRUE(is_symmetric(kit::assemble({3, 3}, {{0, 2, 0.0}, {1, 1, 1}})));
}

TEST(symmetry, values_may_differ_by_rounding_only) {
  const double u = std::numeric_limits<double>::epsilon();
  EXPECT_TRUE(is_symmetric(kit::assemble({2, 2}, {{0, 1, 3}, {1, 0, 3 * (1 + 8 * u)}})));
  EXPECT_FALSE(is_symmetric(kit::assemble({2, 2}, {{0, 1, 3}, {1, 0, 3 * (1 + 1000 * u)}})));
  EXPECT_FALSE(is_symmetric(kit::assemble({2, 2}, {{0, 1, 1e-300}, {1, 0, 2e-300}})));
  EXPECT_FALSE(is_symmetric(kit::assemble({2, 2}, {{0, 1, 1e308}, {1, 0, -1e308}})));
}

TEST(symmetry, what_cancelled_is_measured_against_its_rows) {
  // Beside a diagonal of 1e11 a difference of 1e-5 is rounding; 1e5, a millionth of the diagonal, means something.
  const auto beside = [](double one, double other) {
    return kit::assemble({3, 3}, {{0, 0, 2e11}, {0, 1, one}, {1, 0, other}, {1, 1, 1e11}, {2, 2, 1}});
  };
  EXPECT_TRUE(is_symmetric(beside(-1.5e-5, -7.6e-6)));
  EXPECT_TRUE(is_symmetric(beside(1e-5, 0)));
  EXPECT_FALSE(is_symmetric(beside(1e5, 0)));
  EXPECT_FALSE(is_symmetric(beside(0, 1)));
  // The scale is that of both rows: beside a large row and a small one the difference counts.
  EXPECT_FALSE(is_symmetric(kit::assemble({2, 2}, {{0, 0, 1e11}, {0, 1, 1e-5}, {1, 1, 1e-10}})));
}

TEST(symmetry, the_first_pair_is_named_whatever_the_number_of_threads) {
  auto a = kit::laplacian(300, 300);
  a.val[300000] = 7;
  a.val[200001] = 7; // earlier, so this one is named
  ASSERT_NE(a.row[200001], a.col[200001]) << "choose an entry beside the diagonal";
  const auto i = std::to_string(a.row[200001] + 1), j = std::to_string(a.col[200001] + 1);
  // Its mirror stands before it where it is below the diagonal.
  const bool lower = a.col[200001] < a.row[200001];
  const std::string pair = lower ? "A(" + j + ", " + i + ") = -1" : "A(" + i + ", " + j + ") = 7";
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    const auto what = complaint_of_symmetry(a);
    EXPECT_NE(what.find(pair), std::string::npos) << what << " does not name " << pair;
  }
  set_threads(0);
}

TEST(symmetry, one_changed_entry_of_many_is_found) {
  const auto good = kit::laplacian(40, 40, 10);
  ASSERT_EQ(complaint_of_symmetry(good), "");
  kit::splitmix random(5);
  for (int trial = 0; trial < 50;) {
    auto a = good;
    const index_t k = random.below(a.nnz());
    if (a.row[k] == a.col[k]) continue;
    a.val[k] *= 1.001;
    EXPECT_NE(complaint_of_symmetry(a), "") << k;
    ++trial;
  }
}

} // namespace
} // namespace furrow
