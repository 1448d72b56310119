// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"

#include "core/row_offsets.hpp"
#include "kit/matrices.hpp"
#include "matrix/rows.hpp"

#include <furrow/generate.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace furrow::resident {
namespace {

constexpr chip hopper{132, 226 * 1024};
constexpr vectors_kept of_cg{5, 1, 0, 0};

plan plan_of(const coo<double>& a, chip c = hopper, int value_bytes = 8) {
  const rows_of_triplets<double> rows(a);
  return make_plan(rows.view().row_ptr, rows.view().col, value_bytes, c, of_cg);
}
/// Row i has i + least entries at most, in columns that leap.
coo<double> leaping(index_t rows, index_t least) {
  std::vector<std::int32_t> row, col;
  for (index_t i = 0; i < rows; ++i) {
    std::set<index_t> columns{i};
    for (index_t k = 0; k < least + i % 5; ++k) columns.insert((i * 7 + k * k * 31) % rows);
    for (const index_t j : columns) {
      row.push_back(static_cast<std::int32_t>(i));
      col.push_back(static_cast<std::int32_t>(j));
    }
  }
  coo<double> a{{rows, rows},
                host_array<std::int32_t>(index_t(row.size())),
                host_array<std::int32_t>(index_t(row.size())),
                host_array<double>(index_t(row.size()), 1.0)};
  std::ranges::copy(row, a.row.begin());
  std::ranges::copy(col, a.col.begin());
  return a;
}

/// Each column is found again from its number, and each element of a halo is needed.
void check_numbers(const coo<double>& a, const plan& p) {
  const rows_of_triplets<double> rows(a);
  const auto view = rows.view();
  for (std::size_t k = 0; k + 1 < p.first.size(); ++k) {
    const index_t own = p.first[k + 1] - p.first[k], far = p.halo_first[k];
    const index_t halo = p.halo_first[k + 1] - far;
    std::set<index_t> used;
    for (index_t e = view.row_ptr[p.first[k]]; e < view.row_ptr[p.first[k + 1]]; ++e) {
      const index_t number = p.col[static_cast<std::size_t>(e)];
      ASSERT_LT(number, own + halo);
      const index_t column =
          number < own ? p.first[k] + number : index_t(p.halo[static_cast<std::size_t>(far + number - own)]);
      ASSERT_EQ(column, view.col[e]) << "block " << k << ", entry " << e;
      if (number >= own) used.insert(number);
    }
    ASSERT_EQ(static_cast<index_t>(used.size()), halo);
    for (index_t h = far; h < far + halo; ++h) {
      const std::int32_t column = p.halo[static_cast<std::size_t>(h)];
      ASSERT_TRUE(column < p.first[k] || column >= p.first[k + 1]);
      if (h > far) {
        ASSERT_LT(p.halo[static_cast<std::size_t>(h - 1)], column);
      }
    }
  }
}

TEST(resident_plan, gives_each_block_rows_and_each_column_a_number) {
  for (const index_t rows : {1, 2, 31, 33, 131, 132, 1000}) {
    const auto a = leaping(rows, 6);
    const plan p = plan_of(a);
    ASSERT_TRUE(p.fits()) << rows;
    EXPECT_EQ(p.first.front(), 0);
    EXPECT_EQ(p.first.back(), static_cast<std::int32_t>(rows));
    EXPECT_LE(p.blocks(), 132);
    for (std::size_t k = 0; k + 1 < p.first.size(); ++k) EXPECT_LT(p.first[k], p.first[k + 1]) << rows;
    check_numbers(a, p);
  }
}

TEST(resident_plan, leaves_rows_to_the_blocks_behind_a_long_one) {
  const auto a = kit::from_function(300, [](index_t i, index_t j) { return i == j || i == 7 || j == 7 ? 1.0 : 0.0; });
  const plan p = plan_of(a);
  ASSERT_TRUE(p.fits());
  for (std::size_t k = 0; k + 1 < p.first.size(); ++k) EXPECT_LT(p.first[k], p.first[k + 1]);
  check_numbers(a, p);
}

TEST(resident_plan, cuts_equal_shares_and_keeps_short_rows_in_registers) {
  const auto a = generate("poisson3d:32").a;
  const plan p = plan_of(a);
  ASSERT_NEAR(p.blocks(), 101, 2);
  // Shares of entries and rows together: a row costs as much as two entries beside its own.
  const auto offsets = offsets_of_rows<index_t>(as_cview(a.row), a.shape.rows);
  const auto work = [&](std::int32_t row) { return double(offsets[row] + 2 * row); };
  const double share = work(p.first.back()) / (p.blocks() - 1);
  for (std::size_t k = 0; k + 1 < p.first.size(); ++k) EXPECT_NEAR(work(p.first[k + 1]) - work(p.first[k]), share, 10);
  EXPECT_TRUE(p.inside);
  EXPECT_GT(p.registers, 0);
  EXPECT_GE(p.registers * p.lanes, 7);
  check_numbers(a, p);
}

TEST(resident_plan, cuts_between_the_blocks_of_m) {
  const auto a = generate("poisson3d:20").a;
  const rows_of_triplets<double> rows(a);
  for (const index_t edge : {1, 7, 64}) {
    host_array<index_t> begin(a.shape.rows + 1, 0);
    std::vector<std::int32_t> col;
    for (index_t i = 0; i < a.shape.rows; ++i) {
      for (index_t j = i / edge * edge; j < std::min(a.shape.rows, (i / edge + 1) * edge); ++j)
        col.push_back(static_cast<std::int32_t>(j));
      begin[i + 1] = std::ssize(col);
    }
    const matrix_of_m m{as_cview(begin), {col.data(), std::ssize(col)}};
    const plan p = make_plan(rows.view().row_ptr, rows.view().col, 8, hopper, of_cg, m);
    ASSERT_GT(p.blocks(), 30) << edge;
    EXPECT_EQ(p.registers, 0);
    for (std::size_t k = 0; k + 1 < p.first.size(); ++k) {
      EXPECT_EQ(p.first[k] % edge, 0) << edge;
      for (index_t e = begin[p.first[k]]; e < begin[p.first[k + 1]]; ++e)
        ASSERT_EQ(p.col_of_m[static_cast<std::size_t>(e)] + p.first[k], col[static_cast<std::size_t>(e)]);
    }
    check_numbers(a, p);
  }
}

TEST(resident_plan, puts_into_shared_memory_what_registers_do_not_hold) {
  const plan many_rows = plan_of(generate("poisson3d:48").a);
  ASSERT_TRUE(many_rows.fits());
  EXPECT_EQ(many_rows.registers, 0);
  EXPECT_TRUE(many_rows.inside);
  const plan long_rows = plan_of(leaping(1000, 600));
  ASSERT_TRUE(long_rows.fits());
  EXPECT_EQ(long_rows.registers, 0);
}

TEST(resident_plan, leaves_the_matrix_outside_before_it_gives_up) {
  const auto a = generate("poisson2d:40").a; // one block keeps all rows: no halo
  const share_size all{1600, a.nnz(), 0};
  const std::int64_t vectors = bytes_of(all, 8, false, of_cg), whole = bytes_of(all, 8, true, of_cg);
  EXPECT_TRUE(plan_of(a, {2, whole}).inside);
  const plan without = plan_of(a, {2, whole - 1});
  EXPECT_TRUE(without.fits());
  EXPECT_FALSE(without.inside);
  EXPECT_EQ(without.bytes, vectors);
  EXPECT_TRUE(plan_of(a, {2, vectors}).fits());
  EXPECT_FALSE(plan_of(a, {2, vectors - 1}).fits());
}

TEST(resident_plan, needs_rows_and_a_block_beside_the_one_that_judges) {
  EXPECT_FALSE(plan_of({{0, 0}, {}, {}, {}}).fits());
  EXPECT_FALSE(plan_of(leaping(1, 0), {1, 1 << 17}).fits());
  EXPECT_TRUE(plan_of(leaping(1, 0), {2, 1 << 17}).fits());
}

TEST(resident_plan, has_no_more_blocks_than_a_warp_adds) {
  EXPECT_EQ(plan_of(generate("poisson3d:48").a, {400, 226 * 1024}).blocks(), most_blocks);
}

} // namespace
} // namespace furrow::resident
