// SPDX-License-Identifier: BSD-3-Clause
// The size of factors before they are made, against factors that are.
#include "column_lu.hpp"
#include "factors.hpp"
#include "fill.hpp"

#include "kit/as_it_stands.hpp"
#include "kit/matrices.hpp"
#include "kit/refused_by.hpp"
#include "kit/said_by.hpp"
#include "preconditioners/entry.hpp"
#include "solve/solve_test_kit.hpp"

#include <limits>
#include <set>
#include <vector>

namespace furrow {
namespace {

using namespace solve_test;

coo<double> scattered(index_t n, std::uint32_t seed) {
  std::uint32_t state = seed;
  const auto next = [&](index_t below) { return index_t((state = state * 1664525u + 1013904223u) / 65536u) % below; };
  std::vector<std::set<index_t>> rows(static_cast<std::size_t>(n));
  for (index_t i = 0; i < n; ++i) {
    rows[std::size_t(i)].insert((i * 7 + 3) % n); // a transversal off the diagonal: n is no multiple of 7
    for (int k = 0; k < 3; ++k) rows[std::size_t(i)].insert(next(n));
  }
  return kit::from_function(n, [&](index_t i, index_t j) {
    return rows[std::size_t(i)].contains(j) ? 1.0 + double((i * 31 + j * 17) % 101) / 50 : 0.0;
  });
}

/// Entries of L and U with the diagonal once, for rows that change places as in dense elimination with pivots.
index_t entries_with_pivots(const coo<double>& given) {
  const index_t n = given.shape.rows;
  std::vector<std::vector<double>> a(std::size_t(n), std::vector<double>(std::size_t(n), 0.0));
  for (index_t k = 0; k < given.nnz(); ++k) a[std::size_t(given.row[k])][std::size_t(given.col[k])] = given.val[k];
  index_t entries = 0;
  for (std::size_t k = 0; k < std::size_t(n); ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < std::size_t(n); ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    std::swap(a[k], a[pivot]);
    for (std::size_t j = k; j < std::size_t(n); ++j) entries += a[k][j] != 0;
    for (std::size_t i = k + 1; i < std::size_t(n); ++i) {
      if (a[i][k] == 0) continue;
      ++entries;
      const double factor = a[i][k] / a[k][k];
      for (std::size_t j = k; j < std::size_t(n); ++j) a[i][j] -= factor * a[k][j];
      a[i][k] = 0;
    }
  }
  return entries;
}

/// Columns of their own before a full block.
TEST(fill, tells_the_operations_of_the_last_columns_that_fill_in) {
  const auto forecast = [](index_t n, index_t full) {
    const auto a = kit::from_function(n, [=](index_t i, index_t j) {
      return i == j ? 4.0 : (i >= n - full && j >= n - full) || std::abs(i - j) == 1 ? 1.0 : 0.0;
    });
    return lu::forecast_fill(lu::scale_and_sort(a).a, kit::as_it_stands(n), true);
  };
  const auto all = forecast(60, 60), half = forecast(200, 60), none = forecast(200, 0);
  EXPECT_EQ(all.in_last_columns, all.operations);
  EXPECT_EQ(half.in_last_columns, all.operations);
  EXPECT_EQ(half.operations - half.in_last_columns, 140 * 3); // a division and a product with its sum, a column
  EXPECT_LE(none.in_last_columns, 0.05 * none.operations);
}

TEST(fill, bounds_what_any_pivots_leave) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    const auto a = scattered(60, seed);
    const auto s = lu::scale_and_sort(a);
    ASSERT_FALSE(s.a.symmetric_pattern);
    const auto expected = lu::expected_fill(s.a, kit::as_it_stands(60));
    EXPECT_TRUE(expected.is_bound);
    EXPECT_GE(expected.expected, double(entries_with_pivots(a))) << seed;
    EXPECT_LE(expected.expected, 60.0 * 60);
  }
}

TEST(fill, of_a_matrix_without_fill_is_its_entries) {
  const auto triangular = kit::from_function(50, [](index_t i, index_t j) { return i <= j && j < i + 2 ? 2.0 : 0.0; });
  const auto s = lu::scale_and_sort(triangular);
  const auto upper = lu::expected_fill(s.a, kit::as_it_stands(50));
  EXPECT_TRUE(upper.is_bound);
  EXPECT_EQ(upper.expected, 99); // each row has a column of its own, where no other one may be the pivot
  const auto tridiagonal = lu::scale_and_sort(kit::laplacian(50, 1));
  EXPECT_EQ(lu::expected_fill(tridiagonal.a, kit::as_it_stands(50)).expected, 50 + 2 * 49);
}

/// Band of a grid in its own order: all of it fills in but the corners.
TEST(fill, of_a_grid_in_its_own_order_is_its_band) {
  const auto s = lu::scale_and_sort(kit::laplacian(20, 20));
  const auto f = lu::expected_fill(s.a, kit::as_it_stands(400));
  EXPECT_FALSE(f.is_bound);
  // Points of the first line fill the second one as far as they have come, all others the whole band, to the end.
  const double below = 209 + 361 * 20 + 190;
  EXPECT_EQ(f.expected, 400 + 2 * below);
  EXPECT_EQ(f.expected_bytes, 12 * f.expected);
}

#if FURROW_HAS_SUPERLU
/// What SuperLU makes holds what was counted, and zeros where columns are taken together.
TEST(fill, is_what_the_factors_hold) {
  for (const auto& a : {kit::laplacian(40, 30), kit::laplacian(70, 70)}) {
    const auto made = lu::factor_sparse(lu::scale_and_sort(a).a, 1e12);
    const auto size = made->size();
    EXPECT_FALSE(size.is_bound);
    EXPECT_GE(size.entries, size.expected);
    EXPECT_LE(size.entries, 1.3 * size.expected);
    EXPECT_GT(size.bytes, 8 * size.expected);
    EXPECT_LT(size.bytes, 1.5 * size.expected_bytes);
  }
  const auto made = lu::factor_sparse(lu::scale_and_sort(scattered(300, 5)).a, 1e12);
  EXPECT_TRUE(made->size().is_bound);
  EXPECT_LE(made->size().entries, 1.1 * made->size().expected); // zeros of columns that are taken together
}

TEST(fill, that_cannot_fit_is_refused_before_anything_is_factored) {
  const auto columns = [] { return lu::scale_and_sort(kit::laplacian(20, 20, 20)).a; };
  const auto factor = [&](double budget) {
    constexpr double any = std::numeric_limits<double>::infinity();
    return lu::factor_sparse(columns(), budget, any, {}, lu::order_wish::degree); // with METIS or without
  };
  const double needed = factor(1e12)->size().expected;
  ASSERT_GT(8 * needed, 512 * 8000 + 96 * double(columns().nnz())); // what SuperLU takes for its work
  const std::string said = kit::said_by(fault::memory, [&] { factor(8 * needed - 1); });
  EXPECT_TRUE(mentions(said, "will hold") && mentions(said, "take an iterative solver")) << said;
  // More than the entries, but not what SuperLU takes beside them.
  kit::expect_refusal("need more than the", [&] { factor(8 * needed + 1); });
}

/// Rows at random, without long ones, whose pivots are looked for.
TEST(fill, bounds_the_operations_of_any_pivots) {
  for (const index_t n : {60, 150, 300}) {
    const lu::columns a = lu::scale_and_sort(scattered(n, 7)).a;
    const auto f = lu::forecast_fill(a, kit::as_it_stands(n), false);
    lu::growth_budget budget{host_room(1e9)};
    const lu::column_lu made(a, f.place, {1.0, std::numeric_limits<double>::infinity(), f.size.expected}, budget);
    EXPECT_LE(made.operations(), 1.1 * f.most_operations) << n; // with zeros of columns that are taken together
    EXPECT_GE(made.operations(), 0.1 * f.most_operations) << n;
    EXPECT_EQ(lu::forecast_fill(a, kit::as_it_stands(n), true).most_operations, 0);
  }
}

/// What surely takes too much is not begun; what surely ends soon is made to its end; else the limit decides.
TEST(fill, decides_whether_factors_of_any_pivots_are_begun) {
  const lu::columns a = lu::scale_and_sort(scattered(2000, 7)).a;
  const auto factor = [&](const most_operations& operations) { return lu::factor_sparse(a, 1e9, operations); };
  const double whole = factor({})->size().entries;
  EXPECT_GT(whole, 3e5);
  kit::expect_refusal(status::max_iterations, "operations", [&] { factor(1e5); });
  EXPECT_EQ(factor({1e8, 1e8, 1e12})->size().entries, whole);
  kit::expect_refusal(status::max_iterations, "operations", [&] { factor({1e8, 1e8, 1e8}); });
}
#endif

TEST(fill, is_in_the_report_of_a_solve) {
  const auto a = kit::laplacian(30, 30);
  const auto b = kit::random_vector<double>(900, 3);
  for (const char* precond : {"lu:dense", "lu:band"}) {
    auto o = with(precond);
    o.solver = "direct";
    const auto report = kit::solve_honestly(a, b, o).report;
    EXPECT_EQ(report.why, status::converged) << report.message;
    EXPECT_EQ(report.factor_entries_expected, precond == std::string("lu:dense") ? 810000 : 900 * (3 * 30 + 1));
    EXPECT_EQ(report.factor_entries, report.factor_entries_expected);
    EXPECT_EQ(report.factor_bytes_expected, 8 * report.factor_entries);
    EXPECT_FALSE(report.factors_at_most);
  }
  EXPECT_EQ(kit::solve_honestly(a, b, with("jacobi")).report.factor_entries_expected, 0);
}

} // namespace
} // namespace furrow
