// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "cpu_split.hpp"

#include "kit/matrices.hpp"

#include <furrow/formats.hpp>

#include <gtest/gtest.h>

namespace furrow {
namespace {

TEST(csr_split, shares_cover_every_entry_once_and_long_rows_have_short_parts) {
  for (const auto& m : kit::whole_battery())
    for (const index_t longest : {1, 20, 300, 16384}) {
      SCOPED_TRACE(m.name + ", rows of more than " + std::to_string(longest) + " entries are shared");
      const index_t part = std::max<index_t>(1, longest / 2);
      const auto row_ptr = offsets_of_rows<std::int32_t>(m.a.row, m.a.shape.rows);
      const auto plan = csr_rows::split(as_cview(row_ptr), longest, part);
      index_t row = 0, entry = 0;
      for (const csr_rows::share& s : plan.tasks) {
        ASSERT_EQ(s.row, row);
        if (s.rows > 0) {
          for (; row < s.row + s.rows; ++row) ASSERT_LE(row_ptr[row + 1] - row_ptr[row], longest);
          entry = row_ptr[row];
        } else {
          ASSERT_EQ(s.begin, entry);
          ASSERT_LT(s.begin, s.end);
          ASSERT_LE(s.end - s.begin, part);
          entry = s.end;
          row += entry == row_ptr[row + 1];
        }
      }
      EXPECT_EQ(row, m.a.shape.rows);
      EXPECT_EQ(entry, m.a.nnz());
      for (const csr_rows::long_row& r : plan.rows) {
        EXPECT_EQ(plan.tasks[static_cast<std::size_t>(r.first)].begin, row_ptr[r.row]);
        EXPECT_EQ(plan.tasks[static_cast<std::size_t>(r.last) - 1].end, row_ptr[r.row + 1]);
      }
    }
}

TEST(csr_split, without_a_long_row_blocks_of_vectors_take_one_pass) {
  const auto made = [](const coo<double>& a) { return find_format("csr").cpu.make<double>()(a, {}, "merge"); };
  const auto grid = made(kit::laplacian(40));
  EXPECT_EQ(grid->kernel(), "merge");
  EXPECT_TRUE(grid->multiplies_blocks());
}

} // namespace
} // namespace furrow
