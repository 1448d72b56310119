// SPDX-License-Identifier: BSD-3-Clause
// What every public function says of triplets that break a promise.
#include "core/triplets.hpp"

#include "io/io_test_kit.hpp"
#include "kit/matrices.hpp"
#include "kit/said_by.hpp"

#include <furrow/chebyshev/operator.hpp>
#include <furrow/generate.hpp>
#include <furrow/solve.hpp>
#include <furrow/tune.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace furrow {
namespace {

using io_test::entry;

/// Triplets as they stand, promises or not.
coo<double> triplets(shape2 shape, const std::vector<entry>& entries) { return io_test::make(shape, entries); }

template <class V = double> std::string complaint_of_triplets(const coo<V>& a) {
  return kit::said_by(fault::input, [&] { check_triplets(a); });
}

TEST(triplets, what_the_kit_and_the_generators_make_is_fine) {
  for (const auto& m : kit::whole_battery()) {
    EXPECT_EQ(complaint_of_triplets(m.a), "") << m.name;
    EXPECT_EQ(complaint_of_triplets(kit::as_precision<float>(m.a)), "") << m.name;
  }
  for (const auto& g : generators()) EXPECT_EQ(complaint_of_triplets(generate(g.example).a), "") << g.example;
}

TEST(triplets, the_first_that_is_outside_is_named) {
  EXPECT_EQ(complaint_of_triplets(triplets({4, 4}, {{0, 0, 1}, {1, 4, 1}, {9, 9, 1}})),
            "triplet 1 is (1, 4) in a matrix of 4 x 4: indices count from 0");
  EXPECT_EQ(complaint_of_triplets(triplets({4, 4}, {{0, -1, 1}, {1, 3, 1}})),
            "triplet 0 is (0, -1) in a matrix of 4 x 4: indices count from 0");
  EXPECT_EQ(complaint_of_triplets(triplets({2, 7}, {{1, 6, 1}, {2, 0, 1}})),
            "triplet 1 is (2, 0) in a matrix of 2 x 7: indices count from 0");
  EXPECT_EQ(complaint_of_triplets(triplets({0, 0}, {{0, 0, 1}})),
            "triplet 0 is (0, 0) in a matrix of 0 x 0: indices count from 0");
}

TEST(triplets, a_place_that_comes_twice_is_named) {
  const auto what = complaint_of_triplets(triplets({4, 4}, {{0, 0, 1}, {1, 3, 1}, {1, 3, 1}}));
  EXPECT_EQ(what.find("triplets 1 and 2 are both (1, 3)"), 0u) << what;
  EXPECT_NE(what.find("furrow::assemble"), std::string::npos) << what;
}

TEST(triplets, what_is_out_of_order_is_named) {
  const auto rows = complaint_of_triplets(triplets({4, 4}, {{0, 0, 1}, {2, 1, 1}, {1, 3, 1}}));
  EXPECT_EQ(rows.find("triplet 2 is (1, 3) and comes after (2, 1)"), 0u) << rows;
  const auto columns = complaint_of_triplets(triplets({4, 4}, {{2, 3, 1}, {2, 1, 1}}));
  EXPECT_EQ(columns.find("triplet 1 is (2, 1) and comes after (2, 3)"), 0u) << columns;
}

TEST(triplets, arrays_of_other_lengths_and_sides_that_no_matrix_has) {
  auto a = triplets({4, 4}, {{0, 0, 1}, {1, 1, 1}});
  a.row.resize(1);
  EXPECT_EQ(complaint_of_triplets(a),
            "the matrix has 1 row indices, 2 column indices and 2 values: give as many of each");
  for (const shape2 shape : {shape2{-5, 4}, {4, -1}, {index_t(1) << 31, 4}, {4, index_t(1) << 40}}) {
    const auto what = complaint_of_triplets(triplets(shape, {}));
    EXPECT_NE(what.find("both sides must be between 0 and 2147483647"), std::string::npos) << what;
  }
  EXPECT_EQ(complaint_of_triplets(triplets({2147483647, 2147483647}, {{2147483646, 2147483646, 1}})), "");
}

TEST(triplets, one_wrong_among_many_is_found_wherever_it_stands_and_by_any_number_of_threads) {
  const auto good = kit::laplacian(300, 300); // several pieces
  const index_t n = good.nnz();
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    for (const index_t k : {index_t(0), index_t(1), index_t(32767), index_t(32768), index_t(65536), n / 2, n - 1}) {
      auto a = good;
      a.col[k] = 90000;
      a.row[n - 1] = -1; // and a later one
      const auto what = complaint_of_triplets(a);
      EXPECT_EQ(what.find("triplet " + std::to_string(k) + " is ("), 0u) << what;
      if (k == 0) continue;
      a = good;
      a.row[k] = a.row[k - 1], a.col[k] = a.col[k - 1];
      EXPECT_NE(complaint_of_triplets(a).find("triplets " + std::to_string(k - 1) + " and " + std::to_string(k)),
                std::string::npos);
    }
  }
  set_threads(0);
}

/// Every public function that takes a matrix refuses one that is outside, out of order, twice there or unequal.
TEST(triplets, no_public_function_trusts_them) {
  const io_test::folder here;
  const coo<double> good = kit::laplacian(3);
  const host_array<double> b(3, 1.0);
  const auto solved = [&](coo<double> a) {
    host_array<double> x(3, 0.0);
    solve<double>(std::move(a), b, x, {});
  };
  const std::pair<const char*, std::function<void(coo<double>)>> functions[] = {
      {"solve", solved},
      {"measure", [](const coo<double>& a) { measure(a); }},
      {"make",
       [](coo<double> a) {
         make<double>({&find_format("csr"), {}, "auto", {}}, {}, std::move(a));
       }},
      {"tune", [&](const coo<double>& a) { tune(a, measure(good), {}); }},
      {"convert_values", [](coo<double> a) { convert_values<float>(std::move(a)); }},
      {"the same values", [](coo<double> a) { convert_values<double>(std::move(a)); }},
      {"write_matrix", [&](const coo<double>& a) { write_matrix(a, here / "a.mtx"); }},
      {"write_cache",
       [&](coo<double> a) {
         write_cache({std::move(a), {}, "a", ""}, here / "a.furrow");
       }},
      {"gershgorin", [](const coo<double>& a) { chebyshev::gershgorin(a); }},
      {"centre",
       [](coo<double> a) {
         chebyshev::centre(std::move(a), {1, 3});
       }},
  };
  coo<double> outside = good, twice = good, unsorted = good, unequal = good, sides = good;
  outside.col[5] = 1 << 28;
  twice.col[1] = 0;
  std::swap(unsorted.col[0], unsorted.col[1]);
  unequal.val.resize(4);
  sides.shape = {-3, -3};
  for (const auto& [name, function] : functions)
    for (const auto* bad : {&outside, &twice, &unsorted, &unequal, &sides})
      EXPECT_EQ(kit::said_by(fault::input, [&] { function(*bad); }), complaint_of_triplets(*bad)) << name;
  EXPECT_EQ(here.files(), 0u);
}

} // namespace
} // namespace furrow
