// SPDX-License-Identifier: BSD-3-Clause
#include "column_lu.hpp"
#include "factors.hpp"

#include "kit/as_it_stands.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/refused_by.hpp"
#include "preconditioners/stop.hpp"

#include <furrow/device.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace furrow {
namespace {

constexpr double any = std::numeric_limits<double>::infinity();

/// Each entry with so many others in its row, at random; the diagonal as large as is said.
lu::columns scattered(index_t n, double others, double diagonal, unsigned seed) {
  const auto r = kit::random_vector<double>(n * n, seed), v = kit::random_vector<double>(n * n, seed + 1000);
  const auto a = kit::from_function(n, [&](index_t i, index_t j) {
    if (i == j) return diagonal;
    return std::abs(r[i * n + j]) * double(n) < others ? v[i * n + j] : 0.0;
  });
  return lu::scale_and_sort(a).a;
}

using matrix = std::vector<std::vector<double>>;

/// P A Q from L and U, and L and U themselves, as whole matrices.
struct whole {
  matrix l, u, product;
};
whole whole_of(const lu::supernodal& f) {
  const auto n = std::size_t(f.n);
  whole w{matrix(n, std::vector<double>(n)), matrix(n, std::vector<double>(n)), matrix(n, std::vector<double>(n))};
  for (index_t s = 0; s < f.supernodes; ++s) {
    const std::int32_t first = f.first_column[s], from = f.rows_from[first];
    const index_t h = f.rows_from[first + 1] - from;
    for (std::int32_t j = first; j < f.first_column[s + 1]; ++j) {
      for (index_t i = 0; i < h; ++i) {
        const auto row = std::size_t(f.rows[from + i]);
        (row > std::size_t(j) ? w.l : w.u)[row][std::size_t(j)] = f.values[f.values_from[first] + (j - first) * h + i];
      }
      for (std::int32_t k = f.u_from[j]; k < f.u_from[j + 1]; ++k)
        w.u[std::size_t(f.u_row[k])][std::size_t(j)] = f.u[k];
      w.l[std::size_t(j)][std::size_t(j)] = 1;
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) w.product[i][j] += w.l[i][k] * w.u[k][j];
  return w;
}

TEST(column_lu, is_a_factorisation_with_the_pivots_that_were_asked_for) {
  for (const double diagonal : {0.0, 0.3, 4.0})
    for (const double others : {1.0, 3.0, 12.0, 60.0})
      for (const double threshold : {1.0, 0.1}) {
        const index_t n = 60;
        const lu::columns a = scattered(n, others, diagonal, unsigned(others));
        if (lu::transversal_of(a).without >= 0) continue;
        lu::growth_budget budget(1e9);
        const lu::column_lu f(a, kit::as_it_stands(n), {.threshold = threshold, .operations = any}, budget);
        const whole w = whole_of(f.factors());
        matrix given = w.product;
        for (auto& row : given) row.assign(row.size(), 0.0);
        for (index_t j = 0; j < n; ++j)
          for (index_t k = a.begin[j]; k < a.begin[j + 1]; ++k)
            given[std::size_t(f.row_place()[a.row[k]])][std::size_t(j)] = a.val[k];
        double entries = 0, kept = 0;
        for (std::size_t i = 0; i < std::size_t(n); ++i) {
          for (std::size_t j = 0; j < std::size_t(n); ++j) {
            ASSERT_NEAR(w.product[i][j], given[i][j], 1e-9) << diagonal << ' ' << others << ' ' << i << ' ' << j;
            EXPECT_LE(std::abs(w.l[i][j]), 1 / threshold + 1e-12);
            entries += (i > j && w.l[i][j] != 0) + (i <= j && w.u[i][j] != 0);
          }
          kept += f.row_place()[index_t(i)] == index_t(i);
        }
        EXPECT_GE(f.entries(), entries);
        EXPECT_LE(f.entries(), 1.5 * entries + 60) << "zeros of supernodes";
        if (diagonal == 4.0 && others < 4) {
          EXPECT_EQ(kept, n) << "nothing is larger than the diagonal";
        }
      }
}

/// A row of its own is what an arrow's last column needs: each other column is a supernode by itself.
TEST(column_lu, takes_columns_together_that_share_their_rows) {
  const index_t n = 40;
  const auto full =
      kit::from_function(n, [](index_t i, index_t j) { return i == j ? 50.0 : 1 / double(1 + i + 2 * j); });
  lu::growth_budget budget(1e9);
  const lu::column_lu dense(lu::scale_and_sort(full).a, kit::as_it_stands(n), {.operations = any}, budget);
  EXPECT_EQ(dense.factors().supernodes, 1);
  EXPECT_EQ(dense.entries(), n * n);
  const auto arrow = kit::from_function(n, [n](index_t i, index_t j) {
    return i == j ? 4.0 : i == n - 1 || j == n - 1 ? 1.0 : 0.0;
  });
  const lu::column_lu sparse(lu::scale_and_sort(arrow).a, kit::as_it_stands(n), {.operations = any}, budget);
  EXPECT_EQ(sparse.factors().supernodes, n - 1); // the last two share their rows
  EXPECT_EQ(sparse.entries(), 3 * n - 2);
}

index_t width_of_last(const lu::supernodal& f) { return f.n - f.first_column[f.supernodes - 1]; }

/// Columns by themselves come together in the end, too, where all places are full: some 72 of them here.
TEST(column_lu, takes_all_of_the_columns_together_that_fill_in) {
  const index_t n = 400;
  const lu::columns a = scattered(n, 5, 0.3, 7);
  ASSERT_LT(lu::transversal_of(a).without, 0);
  const int before = threads();
  std::vector<double> first;
  for (const int count : {1, 3}) {
    set_threads(count);
    lu::growth_budget budget(1e9);
    const lu::column_lu f(a, kit::as_it_stands(n), {.operations = any}, budget);
    const lu::supernodal s = f.factors();
    EXPECT_GE(width_of_last(s), 120);
    std::vector<double> x(std::size_t(n), 0.0), expected = x;
    const auto drawn = kit::random_vector<double>(n, 3);
    std::copy(drawn.begin(), drawn.end(), expected.begin());
    for (index_t j = 0; j < n; ++j)
      for (index_t k = a.begin[j]; k < a.begin[j + 1]; ++k)
        x[std::size_t(a.row[k])] += a.val[k] * expected[std::size_t(j)];
    lu::solve_with(s, f.row_place(), kit::as_it_stands(n), x.data(), nullptr, false);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], expected[i], 1e-9);
    if (first.empty()) first = x;
    EXPECT_EQ(x, first);
    EXPECT_GE(f.operations(), 2.0 / 3 * std::pow(double(width_of_last(s)), 3));
    kit::expect_refusal(status::max_iterations, "operations",
                        [&] { lu::column_lu(a, kit::as_it_stands(n), {.operations = f.operations() / 2}, budget); });
  }
  set_threads(before);
}

TEST(column_lu, names_the_column_without_a_pivot_among_those_that_fill_in) {
  const index_t n = 300;
  lu::columns a = scattered(n, 200, 1, 9);
  for (index_t k = a.begin[250]; k < a.begin[251]; ++k) a.val[k] = 0;
  lu::growth_budget budget(1e9);
  kit::expect_refusal(status::singular, "column 251",
                      [&] { lu::column_lu(a, kit::as_it_stands(n), {.operations = any}, budget); });
}

TEST(column_lu, ends_at_its_operations_and_at_its_memory) {
  const lu::columns a = scattered(200, 6, 4, 3);
  lu::growth_budget budget(1e9);
  const lu::column_lu whole(a, kit::as_it_stands(200), {.operations = any}, budget);
  EXPECT_GT(whole.operations(), 1e5);
  kit::expect_refusal(status::max_iterations, "operations", [&] {
    lu::column_lu(a, kit::as_it_stands(200), {.operations = whole.operations() / 2}, budget);
  });
  for (const double bytes : {0.0, 1e3, whole.bytes() / 2, whole.bytes()}) {
    lu::growth_budget little(bytes);
    EXPECT_THROW(lu::column_lu(a, kit::as_it_stands(200), {.operations = any}, little), std::bad_alloc) << bytes;
  }
}

TEST(column_lu, names_the_column_without_a_pivot) {
  const auto a = kit::from_function(9, [](index_t i, index_t j) { // rows 5 and 6 are the same
    const index_t r = i == 6 ? 5 : i;
    return r == j ? 2.0 : j == r + 1 ? 1.0 : 0.0;
  });
  lu::growth_budget budget(1e9);
  kit::expect_refusal(status::singular, "column 7", [&] {
    lu::column_lu(lu::scale_and_sort(a).a, kit::as_it_stands(9), {.operations = any}, budget);
  });
}

/// An array that grows keeps what it holds, and takes what it holds from the budget.
TEST(growing, keeps_its_numbers) {
  lu::growth_budget budget(4e4);
  lu::growing<double> numbers(budget, 0);
  for (int i = 0; i < 2000; ++i) numbers.push(i);
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(numbers[i], i);
  EXPECT_THROW(numbers.add(4000), std::bad_alloc);
}

} // namespace
} // namespace furrow
