// SPDX-License-Identifier: BSD-3-Clause
// Diagonal blocks against a plain reference, and factors of them.
#include "block_lu.hpp"
#include "inverse.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/refused_by.hpp"
#include "kit/solve_check.hpp"
#include "preconditioners/entry.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace furrow {
namespace {

/// A source of numbers that are the same everywhere.
class draws {
public:
  explicit draws(std::uint32_t seed) : state_(seed * 2654435761u + 1) {}
  index_t below(index_t n) { return index_t((state_ = state_ * 1664525u + 1013904223u) >> 8) % n; }
  std::vector<index_t> order_of(index_t n) {
    std::vector<index_t> p(lu::at(n));
    std::iota(p.begin(), p.end(), 0);
    for (index_t i = n; i > 1; --i) std::swap(p[lu::at(i - 1)], p[lu::at(below(i))]);
    return p;
  }

private:
  std::uint32_t state_;
};

/// Blocks of these sizes, each a cycle and some more, with entries above them, in an order that hides them.
coo<double> hidden_blocks(const std::vector<index_t>& sizes, index_t above, std::uint32_t seed) {
  draws r(seed);
  const index_t n = std::accumulate(sizes.begin(), sizes.end(), index_t(0));
  const auto row = r.order_of(n), column = r.order_of(n);
  std::vector<kit::triplet> entries;
  const auto add = [&](index_t i, index_t j, double v) { entries.push_back({row[lu::at(i)], column[lu::at(j)], v}); };
  index_t first = 0;
  for (const index_t m : sizes) {
    for (index_t k = 0; k < m; ++k) {
      add(first + k, first + k, 2 + double(r.below(8)));
      if (m > 1) add(first + k, first + (k + 1) % m, 1 - 0.25 * double(r.below(3)));
      if (m > 2) add(first + r.below(m), first + r.below(m), 0.125);
      for (index_t q = 0; q < above && first > 0; ++q) add(r.below(first), first + k, 0.5);
    }
    first += m;
  }
  return kit::assemble({n, n}, std::move(entries));
}

/// Sets of rows of the blocks, by which columns reach each other.
std::set<std::set<index_t>> plain_blocks(const lu::columns& a, const lu::transversal& rows) {
  const std::size_t n = lu::at(a.n);
  std::vector<std::vector<char>> reaches(n, std::vector<char>(n, 0));
  for (index_t j = 0; j < a.n; ++j)
    for (index_t k = a.begin[j]; k < a.begin[j + 1]; ++k) reaches[lu::at(j)][lu::at(rows.column_of(a.row[k]))] = 1;
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; reaches[i][k] && j < n; ++j) reaches[i][j] |= reaches[k][j];
  std::set<std::set<index_t>> blocks;
  for (std::int32_t i = 0; i < a.n; ++i) {
    std::set<index_t> block{i};
    const std::size_t j = lu::at(rows.column_of(i));
    for (std::int32_t r = 0; r < a.n; ++r)
      if (const std::size_t c = lu::at(rows.column_of(r)); reaches[j][c] && reaches[c][j]) block.insert(r);
    blocks.insert(block);
  }
  return blocks;
}

void expect_form(const coo<double>& given, index_t count, index_t largest) {
  const auto a = lu::scale_and_sort(given).a;
  const auto rows = lu::transversal_of(a);
  ASSERT_LT(rows.without, 0);
  const auto f = lu::find_blocks(a, rows);
  EXPECT_EQ(f.blocks(), count);
  EXPECT_EQ(f.largest(), largest);
  if (f.blocks() == 1) return;
  std::vector<index_t> row_place(lu::at(a.n), -1), column_place(lu::at(a.n), -1), block_at(lu::at(a.n));
  std::set<std::set<index_t>> sets;
  for (index_t b = 0; b < f.blocks(); ++b) {
    std::set<index_t> mine;
    for (index_t p = f.begin[lu::at(b)]; p < f.begin[lu::at(b + 1)]; ++p) {
      row_place[lu::at(f.row_at[lu::at(p)])] = column_place[lu::at(f.column_at[lu::at(p)])] = p;
      block_at[lu::at(p)] = b;
      mine.insert(f.row_at[lu::at(p)]);
    }
    sets.insert(mine);
  }
  ASSERT_EQ(std::ranges::count(row_place, -1) + std::ranges::count(column_place, -1), 0);
  EXPECT_EQ(sets, plain_blocks(a, rows));
  for (index_t j = 0; j < a.n; ++j)
    for (index_t k = a.begin[j]; k < a.begin[j + 1]; ++k)
      EXPECT_LE(block_at[lu::at(row_place[lu::at(a.row[k])])], block_at[lu::at(column_place[lu::at(j)])]);
}

TEST(lu_blocks, are_the_finest_whatever_hides_them) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    expect_form(hidden_blocks({3, 1, 7, 2, 2, 1, 12, 5}, 2, seed), 8, 12);
    expect_form(hidden_blocks({30}, 0, seed), 1, 30);
    expect_form(hidden_blocks(std::vector<index_t>(40, 1), 3, seed), 40, 1);
    expect_form(hidden_blocks({4, 4, 4}, 0, seed), 3, 4);
  }
  expect_form(kit::diagonal({2}), 1, 1);
  expect_form(kit::from_function(1000, [](index_t i, index_t j) { return j == (i + 1) % 1000 || i == j ? 1.0 : 0.0; }),
              1,
              1000); // a way through all columns
  const auto row_is_empty = lu::scale_and_sort(kit::assemble({2, 2}, {{0, 0, 1.0}, {0, 1, 1.0}})).a;
  EXPECT_EQ(lu::transversal_of(row_is_empty).without, 1);
}

/// Rows that are those of the same numbers as the columns keep their order: what is mirrored stays so.
TEST(lu_blocks, keep_a_symmetric_pattern) {
  const auto a =
      lu::scale_and_sort(kit::from_function(9, [](index_t i, index_t j) {
        return i == 4 && j == 8 ? 1.0 : i == 8 && j == 8 ? 1.0 : std::abs(i - j) == 1 && i + j < 15 ? 1.0 : 0.0;
      })).a; // a path of eight without a diagonal, and one below
  const auto f = lu::find_blocks(a, lu::transversal_of(a));
  ASSERT_GT(f.blocks(), 1);
  for (index_t b = 0; b < f.blocks(); ++b) {
    std::set<index_t> rows, columns;
    for (index_t p = f.begin[lu::at(b)]; p < f.begin[lu::at(b + 1)]; ++p)
      rows.insert(f.row_at[lu::at(p)]), columns.insert(f.column_at[lu::at(p)]);
    if (rows != columns) continue;
    for (index_t p = f.begin[lu::at(b)]; p < f.begin[lu::at(b + 1)]; ++p)
      EXPECT_EQ(f.row_at[lu::at(p)], f.column_at[lu::at(p)]);
  }
}

#if FURROW_HAS_SUPERLU

/// Blocks of one row, some, and so many that they have factors of their own, with A and with A', one vector and two.
TEST(lu_blocks, have_factors_that_solve) {
  for (const auto& sizes : {std::vector<index_t>(60, 1), {90, 1, 1, 5, 200, 1, 33}, {73, 72, 71}, {60, 300}}) {
    const auto given = hidden_blocks(sizes, 2, 7);
    const index_t n = given.shape.rows;
    const lu::inverse<double> inverse(given, "sparse");
    EXPECT_NE(inverse.describe().find(" diagonal blocks, the largest of "), std::string::npos) << inverse.describe();
    const auto size = inverse.size_of_factors();
    EXPECT_GE(size.entries, double(given.nnz()));
    EXPECT_GT(size.expected, 0);
    EXPECT_GT(size.bytes, 8 * size.entries);
    for (const bool transposed : {false, true}) {
      const auto x = kit::random_vector<double>(n, 5), y = kit::random_vector<double>(n, 6);
      host_array<double> one(n, 0.0), other(n, 0.0);
      for (index_t k = 0; k < given.nnz(); ++k) {
        const index_t to = transposed ? given.col[k] : given.row[k], from = transposed ? given.row[k] : given.col[k];
        one[to] += given.val[k] * x[from], other[to] += given.val[k] * y[from];
      }
      host_array<double> alone = one;
      inverse.solve(alone.data(), nullptr, transposed);
      inverse.solve(one.data(), other.data(), transposed);
      for (index_t i = 0; i < n; ++i) {
        ASSERT_NEAR(alone[i], x[i], 1e-9) << n << transposed;
        ASSERT_NEAR(one[i], x[i], 1e-9) << n << transposed;
        ASSERT_NEAR(other[i], y[i], 1e-9) << n << transposed;
      }
    }
  }
}

std::string said_of(const coo<double>& a, const std::string& name) {
  return make_preconditioner<double>(name, a, {}, {})->describe();
}

TEST(lu_blocks, are_left_out_where_an_order_or_another_kind_was_asked_for) {
  const auto blocks = hidden_blocks({20, 30, 150, 60}, 1, 3), one = hidden_blocks({260}, 0, 3);
  EXPECT_NE(said_of(blocks, "lu").find("4 diagonal blocks, the largest of 150 rows"), std::string::npos);
  for (const char* const other : {"lu:dense", "lu:supernodal", "lu:sparse:order=degree"})
    EXPECT_EQ(said_of(blocks, other).find("diagonal blocks"), std::string::npos) << other;
  const auto nearly_one = hidden_blocks({260, 1, 1, 1}, 1, 3); // which others are not worth
  for (const auto* const whole : {&one, &nearly_one})
    EXPECT_EQ(said_of(*whole, "lu").find("diagonal blocks"), std::string::npos);
}

/// Pivots from columns grow in Wilkinson's matrix, those from rows in its transpose: neither serves a matrix of both,
/// block by block.
TEST(lu_blocks, give_way_to_the_whole_where_pivots_grow_in_some_by_columns_and_in_others_by_rows) {
  constexpr index_t edge = 60, blocks = 5;
  const auto wilkinson = [](index_t i, index_t j) { return j == edge - 1 || i == j ? 1.0 : i > j ? -1.0 : 0.0; };
  const auto a = kit::from_function(blocks * edge, [&](index_t i, index_t j) {
    const index_t b = i / edge;
    if (b != j / edge) return b == 0 && j == i + edge ? 1.0 : 0.0;
    return b % 2 ? wilkinson(i % edge, j % edge) : wilkinson(j % edge, i % edge);
  });
  const lu::inverse<double> inverse(a, "sparse");
  const auto x = kit::random_vector<double>(blocks * edge, 2), b = kit::times(a, x);
  host_array<double> found = b;
  inverse.solve(found.data(), nullptr, false);
  for (index_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], x[i], 1e-6) << i;
}

/// A column is named by its number in the matrix, of a small block and of a large one.
TEST(lu_blocks, name_the_column_without_a_pivot) {
  for (const index_t m : {2, 120}) { // rows alike in the second block
    const auto a = kit::from_function(m + 250, [m](index_t i, index_t j) {
      if (i < m || j < m) return i < m && j < m ? 1.0 + double(i == j && i > 1) : i < m && j == m + 3 ? 1.0 : 0.0;
      return i == j ? 4.0 : j == i + 1 ? 1.0 : 0.0;
    });
    kit::expect_refusal(status::singular, "column 2 ", [&] { const lu::inverse<double> inverse(a, "sparse"); });
  }
}

/// Blocks share what their factors may take, each by its entries at least.
TEST(lu_blocks, take_so_many_operations_together) {
  const auto dense = kit::from_function(1200, [](index_t i, index_t j) {
    return i / 30 == j / 30 ? (i == j ? 40.0 : 1 + double((i * 7 + j * 3) % 5)) : i < 30 && j == i + 30 ? 1.0 : 0.0;
  });
  const double takes = 40 * 2.0 / 3 * 27000;
  kit::expect_refusal(status::max_iterations, "operations",
                      [&] { const lu::inverse<double> inverse(dense, "sparse", 0.9 * takes); });
  EXPECT_GT(lu::inverse<double>(dense, "sparse", 1.1 * takes).stored_bytes(), 0);
  const auto large = hidden_blocks({400, 400, 400, 400}, 2, 5);
  EXPECT_GT(lu::inverse<double>(large, "sparse", 1e9).stored_bytes(), 0);
  kit::expect_refusal(status::max_iterations, "operations",
                      [&] { const lu::inverse<double> inverse(large, "sparse", 100.0); });
}

#endif

} // namespace
} // namespace furrow
