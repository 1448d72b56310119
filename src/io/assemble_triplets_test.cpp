// SPDX-License-Identifier: BSD-3-Clause
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"
#include "kit/triplets_check.hpp"

#include <furrow/assemble.hpp>
#include <furrow/device.hpp>
#include <furrow/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace furrow {
namespace {

/// Triplets as a program has them.
struct listed {
  shape2 shape;
  std::vector<std::int64_t> row, col;
  std::vector<double> val;
};

listed random_triplets(shape2 shape, index_t count, std::uint64_t seed) {
  kit::splitmix random(seed);
  listed a{shape, {}, {}, {}};
  for (index_t k = 0; k < count; ++k) {
    a.row.push_back(random.below(shape.rows));
    a.col.push_back(random.below(shape.cols));
    a.val.push_back(random.value());
  }
  return a;
}

/// By sorting them whole, one after the other.
coo<double> expected(const listed& a) {
  std::vector<kit::triplet> entries;
  for (std::size_t k = 0; k < a.row.size(); ++k) entries.push_back({a.row[k], a.col[k], a.val[k]});
  return kit::assemble(a.shape, std::move(entries));
}

template <class To, class From> std::vector<To> as(const std::vector<From>& from) { return {from.begin(), from.end()}; }

std::string refused(shape2 shape, const index_view& rows, const index_view& cols, cview<double> values) {
  return kit::said_by(fault::input, [&] { assemble(shape, rows, cols, values); });
}

TEST(assemble, any_order_and_duplicates_in_their_order_by_any_number_of_threads) {
  const listed lists[] = {random_triplets({40, 50}, 3000, 1),           // a place comes again and again
                          random_triplets({3000, 2000}, 200000, 2),     // several blocks
                          random_triplets({1, 9}, 500, 3),              // one row
                          random_triplets({9, 1}, 500, 4),              // one column
                          random_triplets({2000000, 2000000}, 3000, 5), // far fewer triplets than rows
                          random_triplets({7, 7}, 0, 6)};
  for (const auto& a : lists) {
    const auto wanted = expected(a);
    for (const int count : {1, 2, 3}) {
      set_threads(count);
      kit::expect_same(assemble(a.shape, a.row, a.col, a.val), wanted);
    }
  }
  set_threads(0);
}

TEST(assemble, triplets_that_are_in_order_already_stay_as_they_are) {
  for (const auto& m : kit::whole_battery()) {
    SCOPED_TRACE(m.name);
    kit::expect_same(assemble(m.a.shape, m.a.row, m.a.col, m.a.val), m.a);
    if (m.a.nnz() == 0) continue;
    // By columns, and backwards: as other programs list them.
    listed back{m.a.shape, {}, {}, {}};
    for (index_t k = m.a.nnz() - 1; k >= 0; --k) {
      back.row.push_back(m.a.row[k]);
      back.col.push_back(m.a.col[k]);
      back.val.push_back(m.a.val[k]);
    }
    kit::expect_same(assemble(m.a.shape, back.row, back.col, back.val), m.a);
  }
}

TEST(assemble, indices_of_every_type_in_every_container) {
  const listed a = random_triplets({300, 200}, 70000, 7);
  const auto wanted = expected(a);
  const auto rows = as<int>(a.row), cols = as<int>(a.col);
  kit::expect_same(assemble(a.shape, rows, cols, a.val), wanted);
  kit::expect_same(assemble(a.shape, as<unsigned>(a.row), as<std::size_t>(a.col), a.val), wanted);
  kit::expect_same(assemble(a.shape, as<long long>(a.row), as<unsigned long long>(a.col), std::span(a.val)), wanted);
  kit::expect_same(assemble(a.shape, cview<int>(rows), std::span<const int>(cols), cview<double>(a.val)), wanted);
  const int one_row[] = {1, 0}, one_col[] = {0, 1};
  const double values[] = {3, 4};
  kit::expect_same(assemble({2, 2}, one_row, one_col, values), kit::assemble({2, 2}, {{0, 1, 4}, {1, 0, 3}}));
}

TEST(assemble, floats_are_added_in_double_and_rounded_once) {
  const std::vector<int> row{1, 0, 1, 1}, col{1, 0, 1, 1};
  const auto a = assemble({2, 2}, row, col, std::vector<float>{1.0f, 2.0f, 0x1p-24f, 0x1p-24f});
  ASSERT_EQ(a.nnz(), 2);
  EXPECT_EQ(a.val[0], 2.0f);
  EXPECT_EQ(a.val[1], 1.0f + 0x1p-23f); // one by one in float both would be lost
  const std::vector<float> huge{3e38f, 1.0f, 3e38f, 0.0f}, tiny{0.0f, 0x1p-149f, 1.0f, 0.0f};
  EXPECT_EQ(assemble({2, 2}, row, col, tiny).val[0], 0x1p-149f) << "what float holds stays as it is";
  kit::expect_refusal(fault::input, "the triplets at (1, 1) add up to 6e+38, beyond the range of float", [&] {
    assemble({2, 2}, row, col, huge);
  });
}

TEST(assemble, nan_infinity_and_zero_are_kept) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const auto a = assemble({3, 3}, std::vector{2, 1, 0, 0}, std::vector{2, 1, 0, 0}, std::vector{nan, inf, 1.0, -1.0});
  ASSERT_EQ(a.nnz(), 3);
  EXPECT_EQ(a.val[0], 0); // the sum of 1 and -1 is an entry too
  EXPECT_EQ(a.val[1], inf);
  EXPECT_TRUE(std::isnan(a.val[2]));
  const auto narrow =
      assemble({1, 1}, std::vector{0}, std::vector{0}, std::vector{std::numeric_limits<float>::quiet_NaN()});
  EXPECT_TRUE(std::isnan(narrow.val[0]));
}

TEST(assemble, the_first_triplet_outside_is_named_as_it_was_given) {
  const std::vector<double> two{1, 1};
  EXPECT_EQ(refused({4, 4}, std::vector{3, 5}, std::vector{3, 9}, two),
            "triplet 1 is (5, 9) in a matrix of 4 x 4: indices count from 0");
  EXPECT_EQ(refused({4, 4}, std::vector{3, 3}, std::vector{-1, 9}, two),
            "triplet 0 is (3, -1) in a matrix of 4 x 4: indices count from 0");
  constexpr std::int64_t far = (std::int64_t(1) << 32) + 1; // 1 in 32 bits
  EXPECT_EQ(refused({4, 4}, std::vector<std::int64_t>{0, far}, std::vector{0, 0}, two),
            "triplet 1 is (4294967297, 0) in a matrix of 4 x 4: indices count from 0");
  EXPECT_EQ(refused({4, 4}, std::vector{0, 0}, std::vector<std::uint64_t>{std::uint64_t(-1), 9}, two),
            "triplet 0 is (0, 18446744073709551615) in a matrix of 4 x 4: indices count from 0");
  EXPECT_EQ(refused({4, 4}, std::vector<unsigned>{1, 4294967295u}, std::vector{0, 0}, two),
            "triplet 1 is (4294967295, 0) in a matrix of 4 x 4: indices count from 0");
  EXPECT_EQ(refused({0, 4}, std::vector{0, 0}, std::vector{0, 0}, two),
            "triplet 0 is (0, 0) in a matrix of 0 x 4: indices count from 0");
  auto many = random_triplets({500, 500}, 150000, 8);
  many.col[90001] = 500, many.row[149999] = -1;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    EXPECT_EQ(refused(many.shape, many.row, many.col, many.val).find("triplet 90001 is ("), 0u);
  }
  set_threads(0);
}

TEST(assemble, sizes_that_make_no_sense) {
  const std::vector<int> two{0, 1}, three{0, 1, 2};
  const std::vector<double> values{1, 2};
  EXPECT_EQ(refused({4, 4}, two, three, values),
            "the matrix has 2 row indices, 3 column indices and 2 values: give as many of each");
  EXPECT_NE(refused({4, 4}, three, three, values).find("3 row indices"), std::string::npos);
  for (const shape2 shape : {shape2{-1, 4}, {4, -1}, {index_t(1) << 31, 4}, {4, index_t(1) << 62}})
    EXPECT_NE(refused(shape, two, two, values).find("both sides must be between 0 and 2147483647"), std::string::npos);
  EXPECT_NE(refused({4, 4}, cview<int>(nullptr, 2), two, values).find("points nowhere"), std::string::npos);
  EXPECT_NE(refused({4, 4}, two, two, cview<double>(nullptr, 2)).find("points nowhere"), std::string::npos);
  EXPECT_NE(refused({4, 4}, cview<int>(nullptr, -2), cview<int>(nullptr, -2), cview<double>(nullptr, -2)), "");
  const auto largest =
      assemble({2147483647, 2147483647}, std::vector{2147483646}, std::vector{2147483646}, std::vector{5.0});
  EXPECT_EQ(largest.row[0], 2147483646);
}

} // namespace
} // namespace furrow
