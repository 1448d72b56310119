// SPDX-License-Identifier: BSD-3-Clause
#include "contract.hpp"
#include "convert.hpp"
#include "rule.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/triplets_check.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/formats.hpp>
#include <furrow/storage.hpp>

#include <gtest/gtest.h>

namespace furrow {
namespace {

template <class V> struct hyb_of : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(hyb_of, precisions);

TYPED_TEST(hyb_of, keeps_its_contract_and_comes_back_bit_by_bit_for_every_width) {
  for (const auto& m : kit::whole_battery()) {
    const auto a = kit::as_precision<TypeParam>(m.a);
    for (const index_t width : {0, 1, 3, 7}) {
      SCOPED_TRACE(m.name + ", width " + std::to_string(width));
      const auto made = to_hyb(a, width);
      EXPECT_EQ(violation(made), "");
      kit::expect_same(to_coo(made), a);
    }
  }
}

TEST(hyb, does_not_depend_on_the_number_of_threads) {
  const auto a = kit::large_battery().back().a;
  set_threads(1);
  const auto one = to_hyb(a, 4);
  set_threads(3);
  const auto three = to_hyb(a, 4);
  const auto back = to_coo(three);
  set_threads(0);
  EXPECT_TRUE(kit::same_bits(as_cview(one.regular.col), as_cview(three.regular.col)));
  EXPECT_TRUE(kit::same_bits(as_cview(one.rest.val), as_cview(three.rest.val)));
  EXPECT_TRUE(kit::same_bits(as_cview(back.val), as_cview(a.val)));
}

TEST(hyb, every_broken_promise_is_found) {
  using matrix = hyb<double, host_array>;
  const matrix good = to_hyb(kit::laplacian(6, 6), 3); // rows of 3, 4 and 5 entries
  ASSERT_EQ(violation(good), "");
  ASSERT_GT(good.rest.val.size(), 4);
  const auto broken = kit::violation_after(good);
  EXPECT_NE(broken([](matrix& a) { a.shape.rows = 35; }), "");
  EXPECT_NE(broken([](matrix& a) { a.regular.stride = 36; }), "");
  EXPECT_NE(broken([](matrix& a) { a.rest.col.resize(1); }), "");
  EXPECT_NE(broken([](matrix& a) { a.rest.row[0] = 36; }), "");
  EXPECT_NE(broken([](matrix& a) { a.rest.col[0] = -1; }), "");
  EXPECT_NE(broken([](matrix& a) { a.rest.row[0] = 30; }), ""); // rows fall behind it
  EXPECT_NE(broken([](matrix& a) { a.rest.col[0] = 0; }), "");  // left of what is in ell
  EXPECT_NE(broken([](matrix& a) {
              a.regular.col[64 + 10] = -1; // row 10 is not full, yet goes on
              a.regular.val[64 + 10] = 0;
            }),
            "");
}

/// Rows of which `count[k]` have k entries.
std::vector<index_t> reaching_of(std::initializer_list<index_t> count) {
  std::vector<std::int32_t> lengths;
  std::int32_t k = 0;
  for (const index_t n : count) lengths.insert(lengths.end(), static_cast<std::size_t>(n), k++);
  return rows_reaching({lengths.data(), static_cast<index_t>(lengths.size())});
}

TEST(hyb, counts_the_rows_that_reach_a_width) {
  EXPECT_EQ(rows_reaching({}), (std::vector<index_t>{0}));
  EXPECT_EQ(reaching_of({2, 0, 3, 1}), (std::vector<index_t>{6, 4, 4, 1}));
  EXPECT_EQ(entries_beyond(reaching_of({2, 0, 3, 1}), 0), 9);
  EXPECT_EQ(entries_beyond(reaching_of({2, 0, 3, 1}), 2), 1);
  EXPECT_EQ(entries_beyond(reaching_of({2, 0, 3, 1}), 3), 0);
}

TEST(hyb, bell_and_garland_ask_for_a_third_of_the_rows_and_for_4096) {
  EXPECT_EQ(width_of_bell_garland(reaching_of({0, 10000, 10000, 10000})), 3); // a third has 3
  EXPECT_EQ(width_of_bell_garland(reaching_of({0, 10000, 10001, 9999})), 2);  // one row short of it
  EXPECT_EQ(width_of_bell_garland(reaching_of({0, 1000, 1000, 4096})), 3);    // 4096 of 6096
  EXPECT_EQ(width_of_bell_garland(reaching_of({0, 1000, 1001, 4095})), 2);    // a third, but fewer than 4096
  EXPECT_EQ(width_of_bell_garland(reaching_of({0, 50, 50, 50})), 3);          // a small matrix: a third
  EXPECT_EQ(width_of_bell_garland(reaching_of({100, 1})), 0);
  EXPECT_EQ(width_of_bell_garland({0}), 0);
}

TEST(hyb, its_own_rule_moves_the_fewest_bytes) {
  for (const auto& m : kit::battery())
    for (const double value : {8.0, 4.0}) {
      const auto reaching = rows_reaching(as_cview(row_lengths(m.a)));
      const auto cost = [&](index_t width) {
        return double(width * padded_rows(m.a.shape.rows)) * (4 + value) +
               triplet_charge * double(entries_beyond(reaching, width)) * (8 + value);
      };
      const double least = cost(width_of_fewest_bytes(reaching, value));
      for (index_t width = 0; width < static_cast<index_t>(reaching.size()); ++width)
        EXPECT_LE(least, cost(width)) << m.name << ", width " << width;
    }
}

TEST(hyb, takes_a_width_a_rule_or_nothing) {
  const auto reaching = reaching_of({0, 50, 50, 49, 1});
  EXPECT_EQ(hyb_format::width_by({}, reaching, 8), width_of_fewest_bytes(reaching, 8));
  EXPECT_EQ(hyb_format::width_by("bell_garland", reaching, 8), 3);
  EXPECT_EQ(hyb_format::width_by("2", reaching, 8), 2);
  EXPECT_EQ(hyb_format::width_by("1000", reaching, 8), 4); // wider than the longest row would be padding alone
  for (const std::string_view wrong : {"-1", "bell", "2:3"})
    EXPECT_THROW(hyb_format::width_by(wrong, reaching, 8), error) << wrong;
}

TEST(hyb, assumes_the_mean_length_where_only_the_sizes_are_known) {
  stats s;
  s.shape = {1000, 1000};
  s.nnz = 6500;
  const format_entry& f = find_format("hyb");
  EXPECT_FALSE(f.lay_out(s, precision::f32, {}).exact);
  EXPECT_EQ(f.lay_out(s, precision::f32, {}).bytes, 7 * 1008 * 8);
  EXPECT_EQ(f.lay_out(s, precision::f32, "3").bytes, 3 * 1008 * 8 + 4000 * 12);
}

} // namespace
} // namespace furrow
