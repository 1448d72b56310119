// SPDX-License-Identifier: BSD-3-Clause
#include "transpose.hpp"

#include "kit/matrices.hpp"

#include <gtest/gtest.h>

#include <map>

namespace furrow {
namespace {

TEST(transposed, has_the_same_entries_sorted_by_the_other_index) {
  for (const auto& m : kit::battery()) {
    const auto t = transposed(m.a);
    ASSERT_EQ(t.shape, (shape2{m.a.shape.cols, m.a.shape.rows})) << m.name;
    std::map<std::pair<std::int32_t, std::int32_t>, double> entries; // sorted as triplets are
    for (index_t k = 0; k < m.a.nnz(); ++k) entries[{m.a.col[k], m.a.row[k]}] = m.a.val[k];
    ASSERT_EQ(t.nnz(), index_t(entries.size())) << m.name;
    index_t k = 0;
    for (const auto& [place, value] : entries) {
      ASSERT_EQ(place, (std::pair{t.row[k], t.col[k]})) << m.name;
      ASSERT_EQ(value, t.val[k++]) << m.name;
    }
  }
}

} // namespace
} // namespace furrow
