// SPDX-License-Identifier: BSD-3-Clause
#include "factors.hpp"
#include "matched.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "preconditioners/entry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace furrow {
namespace {

/// [A B'; B 0] of flow on m x m x m cells: velocities on the faces between them, pressures within, of which one has a
/// diagonal entry, for they are known but for a constant.
coo<double> flow_of_cells(index_t m) {
  std::vector<kit::triplet> entries;
  const index_t faces = m * m * (m - 1), cells = m * m * m;
  const auto unknown = [&](int direction, const index_t* i) { // of the face behind that cell, or of the cell
    if (direction == 3) return 3 * faces + (i[0] * m + i[1]) * m + i[2];
    const index_t n[3] = {direction == 0 ? m - 1 : m, direction == 1 ? m - 1 : m, direction == 2 ? m - 1 : m};
    for (int d = 0; d < 3; ++d)
      if (i[d] < 0 || i[d] >= n[d]) return index_t(-1);
    return direction * faces + (i[0] * n[1] + i[1]) * n[2] + i[2];
  };
  for (index_t c = 0; c < cells; ++c) {
    index_t i[3] = {c / m / m, c / m % m, c % m};
    const index_t pressure = unknown(3, i);
    if (c == 0) entries.push_back({pressure, pressure, -1});
    for (int d = 0; d < 3; ++d) {
      const index_t v = unknown(d, i);
      if (v < 0) continue;
      entries.push_back({v, v, 6});
      for (int e = 0; e < 3; ++e)
        for (const index_t step : {-1, 1}) {
          index_t j[3] = {i[0], i[1], i[2]};
          j[e] += step;
          if (const index_t w = unknown(d, j); w >= 0) entries.push_back({v, w, -1});
        }
      index_t other[3] = {i[0], i[1], i[2]};
      ++other[d];
      for (const auto& [p, value] : {std::pair{pressure, -1.0}, {unknown(3, other), 1.0}})
        entries.push_back({v, p, value}), entries.push_back({p, v, value});
    }
  }
  return kit::assemble({3 * faces + cells, 3 * faces + cells}, entries);
}

/// A box of points with winds, its rows in another order.
coo<double> shuffled(index_t n, index_t step) {
  auto a = kit::laplacian(n, n, n);
  std::vector<kit::triplet> entries;
  const index_t rows = a.shape.rows;
  for (index_t k = 0; k < a.nnz(); ++k)
    entries.push_back({(a.row[k] * step + 5) % rows, a.col[k], a.val[k] * (a.col[k] > a.row[k] ? 0.3 : 1.0)});
  return kit::assemble(a.shape, entries);
}

TEST(lu_matched, rows_have_large_entries_on_the_diagonal) {
  const lu::columns a = lu::scale_and_sort(shuffled(5, 7)).a;
  ASSERT_TRUE(lu::has_weak_diagonal(a));
  const lu::arranged_columns m = lu::match_rows(a);
  EXPECT_FALSE(lu::has_weak_diagonal(m.a));
  std::vector<double> whole(std::size_t(a.n * a.n)), moved(whole.size());
  for (index_t j = 0; j < a.n; ++j)
    for (index_t k = a.begin[j]; k < a.begin[j + 1]; ++k) {
      whole[std::size_t(a.row[k] * a.n + j)] = a.val[k] * m.row_scale[a.row[k]] * m.col_scale[j];
      moved[std::size_t(m.row_at[m.a.row[k]] * a.n + j)] = m.a.val[k];
      EXPECT_LE(std::abs(m.a.val[k]), 1 + 1e-12); // powers of two are not above the scales
      EXPECT_TRUE(k == a.begin[j] || m.a.row[k] > m.a.row[k - 1]);
      if (m.a.row[k] == j) {
        EXPECT_GE(std::abs(m.a.val[k]), 0.25);
      }
    }
  EXPECT_EQ(whole, moved);
}

TEST(lu_matched, columns_stand_in_for_weak_diagonals_by_pairs) {
  const lu::columns a = lu::scale_and_sort(flow_of_cells(3)).a;
  ASSERT_TRUE(lu::is_mirrored(a));
  ASSERT_TRUE(lu::has_weak_diagonal(a));
  const lu::columns p = lu::match_pairs(a).pattern;
  const auto rows = [&p](index_t j) { return std::vector(p.row.data() + p.begin[j], p.row.data() + p.begin[j + 1]); };
  EXPECT_TRUE(lu::is_mirrored(p));
  for (index_t j = 0; j < a.n; ++j) {
    const auto mine = rows(j);
    EXPECT_TRUE(std::ranges::is_sorted(mine));
    EXPECT_TRUE(std::ranges::includes(mine, std::vector(a.row.data() + a.begin[j], a.row.data() + a.begin[j + 1])));
    double diagonal = 0;
    for (index_t k = a.begin[j]; k < a.begin[j + 1]; ++k)
      if (a.row[k] == j) diagonal = a.val[k];
    if (diagonal == 0) { // some other column has the same rows, which are those of either
      EXPECT_TRUE(std::ranges::any_of(mine, [&](std::int32_t i) { return i != j && rows(i) == mine; })) << j;
    }
  }
}

TEST(lu_matched, mirrored_is_what_has_each_entry_on_both_sides) {
  EXPECT_TRUE(lu::is_mirrored(lu::scale_and_sort(flow_of_cells(3)).a));
  EXPECT_FALSE(lu::is_mirrored(lu::scale_and_sort(shuffled(3, 5)).a));
  EXPECT_FALSE(lu::is_mirrored(lu::scale_and_sort(kit::from_function(4, [](index_t i, index_t j) {
                                 return i == j ? 1.0 : double(j == (i + 1) % 4);
                               })).a));
}

#if FURROW_HAS_SUPERLU
/// Beside those that take pivots from anywhere, with A and with A'.
TEST(lu_matched, factors_solve_as_others_do) {
  for (const auto& given : {flow_of_cells(4), shuffled(6, 7)}) {
    const lu::columns a = lu::scale_and_sort(given).a;
    const auto f = lu::factor_sparse(a, 1e9, {}, {}, lu::order_wish::cheapest, lu::supernodes::only);
    const auto g = lu::factor_dense(a);
    EXPECT_EQ(f->kind(), "supernodal");
    EXPECT_EQ(f->raised, 0);
    EXPECT_LT(f->error, 1e-13);
    for (const bool transposed : {false, true}) {
      host_array<double> x = kit::random_vector<double>(a.n, 3), y = kit::random_vector<double>(a.n, 4), z = x, w = y;
      f->solve_two(x.data(), y.data(), transposed);
      g->solve_two(z.data(), w.data(), transposed);
      for (index_t i = 0; i < a.n; ++i) {
        ASSERT_NEAR(x[i], z[i], 1e-9) << a.n << transposed << i;
        ASSERT_NEAR(y[i], w[i], 1e-9) << a.n << transposed << i;
      }
    }
  }
}

TEST(lu_matched, is_taken_where_the_counts_say_that_it_pays) {
  for (const auto& a : {flow_of_cells(12), shuffled(20, 7)}) { // 6,480 and 8,000 rows
    const auto m = make_preconditioner<double>("lu", a, {}, {});
    EXPECT_EQ(m->describe().find("supernodal factors"), 0u) << m->describe();
    EXPECT_GT(m->condition().norm_1, 1);
  }
  for (const auto& a : {flow_of_cells(4), shuffled(6, 7)})
    EXPECT_EQ(make_preconditioner<double>("lu", a, {}, {})->describe().find("sparse factors"), 0u);
}
#endif

} // namespace
} // namespace furrow
