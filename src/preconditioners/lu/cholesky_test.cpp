// SPDX-License-Identifier: BSD-3-Clause
#include "cholesky.hpp"
#include "cholesky_pattern.hpp"
#include "ordering.hpp"
#include "panel_product.hpp"

#include "kit/as_it_stands.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/refused_by.hpp"
#include "kit/said_by.hpp"
#include "kit/solve_check.hpp"
#include "preconditioners/entry.hpp"
#include "preconditioners/stop.hpp"

#include <furrow/device.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace furrow {
namespace {

using numbers = std::vector<double>;

using kit::random_numbers;

/// C -= A B', element by element, with the panels one number taller than they must be.
TEST(panel_product, is_that_of_its_definition) {
  for (const bool lower : {false, true})
    for (const index_t m : {1, 3, 6, 12, 24, 25, 100, 201})
      for (const index_t n : {1, 4, 6, 33})
        for (const index_t k : {1, 7, 256, 300}) {
          if (lower && n > m) continue;
          numbers a = random_numbers((m + 1) * k, 1), b = random_numbers((n + 1) * k, 2), c(std::size_t((m + 1) * n));
          lu::subtract_product({c.data(), m + 1}, {a.data(), m + 1}, {b.data(), n + 1}, m, n, k, lower);
          for (index_t j = 0; j < n; ++j) {
            for (index_t i = lower ? j : 0; i < m; ++i) {
              double sum = 0;
              for (index_t t = 0; t < k; ++t) sum += a[std::size_t(t * (m + 1) + i)] * b[std::size_t(t * (n + 1) + j)];
              ASSERT_NEAR(c[std::size_t(j * (m + 1) + i)], -sum, 1e-15 * double(k) * 4) << m << ' ' << n << ' ' << k;
            }
            ASSERT_EQ(c[std::size_t(j * (m + 1) + m)], 0) << "below the panel";
          }
        }
}

/// C -= A B likewise.
TEST(panel_product, takes_a_second_factor_that_is_not_transposed) {
  for (const index_t m : {1, 12, 25, 100})
    for (const index_t n : {1, 4, 6, 33})
      for (const index_t k : {1, 7, 256, 300}) {
        numbers a = random_numbers((m + 1) * k, 1), b = random_numbers((k + 1) * n, 2), c(std::size_t((m + 1) * n));
        lu::subtract_straight_product({c.data(), m + 1}, {a.data(), m + 1}, {b.data(), k + 1}, m, n, k);
        for (index_t j = 0; j < n; ++j) {
          for (index_t i = 0; i < m; ++i) {
            double sum = 0;
            for (index_t t = 0; t < k; ++t) sum += a[std::size_t(t * (m + 1) + i)] * b[std::size_t(j * (k + 1) + t)];
            ASSERT_NEAR(c[std::size_t(j * (m + 1) + i)], -sum, 1e-15 * double(k) * 4) << m << ' ' << n << ' ' << k;
          }
          ASSERT_EQ(c[std::size_t(j * (m + 1) + m)], 0) << "below the panel";
        }
      }
}

TEST(panel_product, has_the_same_bits_for_any_number_of_threads) {
  const index_t m = 500, n = 200, k = 300; // 6e7 operations
  numbers a = random_numbers(m * k, 1), b = random_numbers(n * k, 2);
  const int before = threads();
  numbers first;
  for (const int count : {1, 2, 3, 8}) {
    set_threads(count);
    numbers c(std::size_t(m * n), 1.0);
    lu::subtract_product({c.data(), m}, {a.data(), m}, {b.data(), n}, m, n, k, false);
    if (first.empty()) first = c;
    EXPECT_EQ(c, first) << count;
  }
  set_threads(before);
}

/// One column behind the other, as a supernode of 2,000 holds them, and the products between two of them.
TEST(factor_panel, ends_where_it_is_told_to) {
  constexpr index_t n = 700;
  std::vector<double> ones(std::size_t(n * n), 1.0), definite = ones;
  for (index_t j = 0; j < n; ++j) definite[std::size_t(j * n + j)] = 2;
  for (const int count : {1, 3}) {
    set_threads(count);
    int asked = 0, most = 0;
    const stops_set_up stop([&]() -> std::optional<refusal> {
      if (++asked <= most) return {};
      return refusal{status::interrupted, "enough"};
    });
    std::vector<double> other = definite;
    const lu::panel a{ones.data(), n}, c{other.data(), n};
    kit::expect_refusal(status::interrupted, "enough", [&] { lu::factor_panel(c, n, n, 0); });
    EXPECT_EQ(asked, 1) << count;
    most = 3; // some 20 ms later
    kit::expect_refusal(status::interrupted, "enough", [&] { lu::subtract_product(c, a, a, n, n, 256, false); });
    EXPECT_EQ(asked, 4) << count;
  }
  set_threads(0);
}

TEST(factor_panel, names_the_column_without_a_pivot) {
  const index_t n = 100;
  numbers a(std::size_t(n * n), 0.0);
  for (index_t j = 0; j < n; ++j) a[std::size_t(j * n + j)] = j == 70 ? -1 : 4;
  EXPECT_EQ(lu::factor_panel({a.data(), n}, n, n, 0), 70);
  EXPECT_EQ(a[0], 2);
}

/// n points of which each has some at random beside it, with a diagonal that outweighs them.
coo<double> random_definite(index_t n, index_t neighbours, unsigned seed) {
  const auto r = kit::random_vector<double>(n * n, seed);
  return kit::from_function(n, [&](index_t i, index_t j) {
    if (i == j) return 2.0 * double(neighbours + 1);
    const double v = r[std::min(i, j) * n + std::max(i, j)]; // from [-1, 1]
    return std::abs(v) * double(n) < double(neighbours) ? v * double(n) / double(neighbours) : 0.0;
  });
}

#if FURROW_HAS_SUPERLU
lu::columns scaled(const coo<double>& a) { return std::move(lu::scale_symmetric(a)->a); }

std::unique_ptr<lu::factors> cholesky_of(const lu::columns& a, double budget,
                                         double operations = std::numeric_limits<double>::infinity()) {
  return lu::factor_cholesky(a, lu::minimum_degree(a, budget), budget, operations);
}

TEST(cholesky_pattern, holds_every_entry_of_the_factor) {
  for (const auto& given : {kit::laplacian(9, 7), random_definite(80, 3, 5), random_definite(60, 1, 6)}) {
    const lu::columns a = scaled(given);
    host_array<std::int32_t> place(a.n);
    std::iota(place.begin(), place.end(), 0);
    const lu::cholesky_pattern p = lu::pattern_of_factor(a, place);
    const auto n = std::size_t(a.n);
    std::vector<std::vector<char>> full(n, std::vector<char>(n)); // by elimination, without any cleverness
    for (index_t j = 0; j < a.n; ++j)
      for (index_t k = a.begin[j]; k < a.begin[j + 1]; ++k)
        full[std::size_t(p.place[a.row[k]])][std::size_t(p.place[j])] = 1;
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = j + 1; i < n; ++i)
        for (std::size_t t = j + 1; t < n && full[i][j]; ++t)
          if (full[t][j]) full[i][t] = 1;
    double entries = 0, operations = 0;
    for (std::size_t j = 0; j < n; ++j) {
      double count = 0;
      const index_t s = p.supernode_of[j];
      const std::int32_t *const rows = p.rows_of(s), *const end = rows + p.height(s);
      for (std::size_t i = j; i < n; ++i) {
        count += full[i][j];
        EXPECT_TRUE(!full[i][j] || std::binary_search(rows, end, std::int32_t(i))) << i << ' ' << j;
      }
      entries += count, operations += count * count;
    }
    EXPECT_EQ(p.entries, entries);
    EXPECT_EQ(p.operations, operations);
    EXPECT_LT(double(p.values_from.back()), 4 * entries + 100);
  }
}

TEST(cholesky, is_the_inverse_of_a_definite_matrix) {
  const auto diagonal =
      kit::from_function(70, [](index_t i, index_t j) { return i == j ? std::ldexp(1, int(i)) : 0.0; });
  const auto arrow = kit::from_function(200, [](index_t i, index_t j) {
    return i == j ? 200.0 : i * j == 0 ? 1.0 : 0.0;
  });
  const auto dense =
      kit::from_function(150, [](index_t i, index_t j) { return i == j ? 2.0 : 1.0 / double(1 + i + j); });
  for (const auto& a :
       {kit::diagonal({3}), kit::laplacian(30, 20), random_definite(300, 4, 7), diagonal, arrow, dense}) {
    const auto expected = kit::random_vector<double>(a.shape.rows, 9);
    const auto b = kit::times<double>(a, expected);
    host_array<double> x(b.size());
    const auto m = make_preconditioner<double>("lu:cholesky", a, {}, {});
    EXPECT_EQ(m->describe().find("Cholesky factors"), 0u) << m->describe();
    m->apply(as_cview(b), as_view(x));
    for (index_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], expected[i], 1e-11) << a.shape.rows << ", row " << i;
    const auto c = m->condition(), other = make_preconditioner<double>("lu:dense", a, {}, {})->condition();
    EXPECT_NEAR(c.norm_1 / other.norm_1, 1, 1e-6);
    EXPECT_GT(c.skeel, other.skeel / 4); // the estimates may follow other vectors
    EXPECT_LT(c.skeel, other.skeel * 4);
  }
}

TEST(cholesky, is_taken_alone_where_it_can_be) {
  EXPECT_EQ(make_preconditioner<float>("lu", kit::as_precision<float>(kit::laplacian(40, 40)), {}, {})
                ->describe()
                .find("Cholesky"),
            0u);
  auto a = kit::laplacian(
      40, 40); // eigenvalues from 0.01 to 8, shifted through zero: a positive diagonal, no definite matrix
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] -= 1.03;
  EXPECT_EQ(make_preconditioner<double>("lu", a, {}, {})->describe().find("sparse"), 0u);
  kit::expect_refusal(status::not_positive_definite, "lu:cholesky",
                      [&] { make_preconditioner<double>("lu:cholesky", a, {}, {}); });
  a = kit::laplacian(40, 40);
  a.val[1] *= 2; // of one of two mirrored entries
  EXPECT_EQ(make_preconditioner<double>("lu", a, {}, {})->describe().find("sparse"), 0u);
  kit::expect_refusal(status::not_positive_definite, "not symmetric",
                      [&] { make_preconditioner<double>("lu:cholesky", a, {}, {}); });
}

TEST(cholesky, leaves_a_singular_matrix_to_pivots) {
  auto a = kit::laplacian(30, 30);
  for (index_t k = 0; k < a.nnz(); ++k) // rows that sum to nothing
    if (a.row[k] == a.col[k]) {
      double others = 0;
      for (index_t q = 0; q < a.nnz(); ++q)
        if (a.row[q] == a.row[k] && a.col[q] != a.row[k]) others -= a.val[q];
      a.val[k] = others;
    }
  EXPECT_EQ(cholesky_of(scaled(a), 1e9), nullptr);
}

/// A 2 x 2 minor that is not positive is seen before anything is ordered.
TEST(cholesky, is_not_tried_where_an_entry_is_too_large) {
  auto a = kit::laplacian(20, 20);
  ASSERT_TRUE(lu::scale_symmetric(a).has_value());
  for (index_t k = 0; k < a.nnz(); ++k)
    if ((a.row[k] == 7 && a.col[k] == 8) || (a.row[k] == 8 && a.col[k] == 7)) a.val[k] = -4;
  EXPECT_FALSE(lu::scale_symmetric(a).has_value());
}

TEST(cholesky, refuses_before_it_begins_what_takes_too_much) {
  const lu::columns a = scaled(kit::laplacian(60, 60));
  const auto whole = cholesky_of(a, 1e9);
  for (const double budget : {0.0, 1e5, whole->bytes() / 2})
    EXPECT_NE(kit::said_by(fault::memory, [&] { cholesky_of(a, budget); }), "") << budget;
  // 60 x 60 points in a good order: some 2.3e6 operations.
  kit::expect_refusal(status::max_iterations, "1e+06 operations", [&] { cholesky_of(a, 1e9, 1e6); });
  EXPECT_NE(cholesky_of(a, 1e9, 1e7), nullptr);
  const bounds_operations bound(1e6);
  kit::expect_refusal(status::max_iterations, "1e+06 operations",
                      [&] { make_preconditioner<double>("lu", kit::laplacian(60, 60), {}, {}); });
}

TEST(cholesky, ends_where_it_is_told_to) {
  const lu::columns a = scaled(kit::laplacian(60, 60));
  int asked = 0;
  const stops_set_up stop([&]() -> std::optional<refusal> {
    if (++asked < 3) return {};
    return refusal{status::interrupted, "enough"};
  });
  EXPECT_THROW(cholesky_of(a, 1e9), refusal);
  EXPECT_EQ(asked, 3);
}

/// Of one supernode the memory alone takes a while.
TEST(cholesky, asks_while_a_large_supernode_begins) {
  const lu::columns full = scaled(kit::from_function(320, [](index_t i, index_t j) { return i == j ? 2.0 : 1e-3; }));
  int asked = 0;
  const stops_set_up stop([&]() -> std::optional<refusal> { return ++asked, std::nullopt; });
  const auto p = lu::pattern_of_factor(full, kit::as_it_stands(320));
  ASSERT_EQ(p.supernodes(), 1);
  asked = 0;
  EXPECT_NE(lu::factor_cholesky(full, kit::as_it_stands(320), 1e9), nullptr);
  EXPECT_GE(asked, 320 / 16);
}
#endif

} // namespace
} // namespace furrow
