// SPDX-License-Identifier: BSD-3-Clause
#include "kit/matrices.hpp"
#include "kit/said_by.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/sparse.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace furrow {
namespace {

template <class I> struct rows {
  shape2 shape;
  std::vector<I> row_ptr, col;
  std::vector<double> val;
  csr_arrays<double, I> arrays() const { return {shape, row_ptr, col, val}; }
};

template <class I> rows<I> rows_of(const coo<double>& a) {
  rows<I> r{a.shape, std::vector<I>(static_cast<std::size_t>(a.shape.rows) + 1), {}, {}};
  for (index_t k = 0; k < a.nnz(); ++k) {
    ++r.row_ptr[static_cast<std::size_t>(a.row[k]) + 1];
    r.col.push_back(static_cast<I>(a.col[k]));
    r.val.push_back(a.val[k]);
  }
  for (std::size_t i = 1; i < r.row_ptr.size(); ++i) r.row_ptr[i] += r.row_ptr[i - 1];
  return r;
}

void expect_same(const coo<double>& a, const coo<double>& b) {
  ASSERT_EQ(a.shape, b.shape);
  ASSERT_EQ(a.nnz(), b.nnz());
  EXPECT_TRUE(std::ranges::equal(a.row, b.row));
  EXPECT_TRUE(std::ranges::equal(a.col, b.col));
  EXPECT_TRUE(std::ranges::equal(a.val, b.val));
}

template <class I> struct csr_arrays_of : testing::Test {};
using widths = testing::Types<std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(csr_arrays_of, widths);

TYPED_TEST(csr_arrays_of, sorted_rows_come_back_as_they_are) {
  for (const auto& [name, a] : kit::whole_battery()) {
    SCOPED_TRACE(name);
    expect_same(to_coo(rows_of<TypeParam>(a).arrays()), a);
  }
}

TYPED_TEST(csr_arrays_of, disordered_rows_are_sorted_and_added_up) {
  auto r = rows_of<TypeParam>(kit::laplacian(40, 40));
  const auto straight = to_coo(r.arrays());
  for (std::size_t i = 0; i + 1 < r.row_ptr.size(); ++i) { // every row backwards
    std::reverse(r.col.begin() + r.row_ptr[i], r.col.begin() + r.row_ptr[i + 1]);
    std::reverse(r.val.begin() + r.row_ptr[i], r.val.begin() + r.row_ptr[i + 1]);
  }
  expect_same(to_coo(r.arrays()), straight);
  const rows<TypeParam> twice{{2, 3}, {0, 3, 4}, {2, 0, 2, 1}, {1, 2, 3, 4}};
  const auto a = to_coo(twice.arrays());
  EXPECT_EQ(std::vector<double>(a.val.begin(), a.val.end()), (std::vector<double>{2, 4, 4}));
}

TYPED_TEST(csr_arrays_of, what_lies_beyond_the_last_offset_does_not_count) {
  const rows<TypeParam> r{{1, 2}, {0, 1}, {1, 77}, {5, 6}};
  EXPECT_EQ(to_coo(r.arrays()).nnz(), 1);
}

TYPED_TEST(csr_arrays_of, the_first_wrong_place_is_named) {
  const auto says = [](const rows<TypeParam>& r) { return kit::said_by(fault::input, [&] { to_coo(r.arrays()); }); };
  EXPECT_EQ(says({{2, 2}, {0, 1}, {0}, {1}}), "row_ptr has 2 elements for a matrix of 2 rows: give 3");
  EXPECT_EQ(says({{2, 2}, {0, 1, 2}, {0}, {1, 2}}),
            "the matrix has 1 column indices and 2 values: give as many of each");
  EXPECT_EQ(says({{2, 2}, {1, 1, 1}, {0}, {1}}), "row_ptr begins with 1: offsets begin with 0");
  EXPECT_EQ(says({{2, 2}, {0, 2, 1}, {0, 1}, {1, 2}}),
            "row_ptr[2] = 1 is less than row_ptr[1] = 2: offsets do not decrease");
  EXPECT_EQ(says({{2, 2}, {0, 2, 3}, {0, 1}, {1, 2}}), "row_ptr ends with 3, but there are 2 column indices");
  EXPECT_EQ(says({{2, 2}, {0, 1, 2}, {0, 2}, {1, 2}}),
            "entry 1, in row 1, is in column 2 of a matrix of 2 x 2: indices count from 0");
  EXPECT_EQ(says({{2, 2}, {0, 1, 2}, {-1, 2}, {1, 2}}),
            "entry 0, in row 0, is in column -1 of a matrix of 2 x 2: indices count from 0");
  EXPECT_EQ(says({{-1, 2}, {}, {}, {}}), "the matrix is -1 x 2: both sides must be between 0 and 2147483647");
}

TEST(csr_arrays_of_64_bits, a_column_beyond_32_bits_is_outside) {
  const rows<std::int64_t> r{{1, 3}, {0, 1}, {(std::int64_t(1) << 32) + 1}, {1}};
  EXPECT_THROW(to_coo(r.arrays()), error);
}

} // namespace
} // namespace furrow
