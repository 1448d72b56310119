// SPDX-License-Identifier: BSD-3-Clause
#include "cholesky.hpp"
#include "factors.hpp"
#include "fill.hpp"
#include "norm_estimate.hpp"
#include "ordering.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/refused_by.hpp"
#include "kit/said_by.hpp"
#include "kit/solve_check.hpp"
#include "preconditioners/entry.hpp"
#include "preconditioners/stop.hpp"

#include "core/check.hpp"

#include <furrow/generate.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow {
namespace {

/// Neither symmetric nor dominant: every row needs a pivot from elsewhere.
coo<double> without_diagonal(index_t n) {
  return kit::from_function(n, [n](index_t i, index_t j) {
    return j == (i + 1) % n ? 2.0 + double(i % 3) : j == (i + 2) % n ? -1.0 : 0.0;
  });
}

/// Rows whose sizes span 2^-600 to 2^600.
coo<double> badly_scaled(index_t n) {
  auto a = kit::from_function(n, [](index_t i, index_t j) {
    return i == j ? 4.0 : i + 1 == j || j + 2 == i ? 1.0 : 0.0;
  });
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] = std::ldexp(a.val[k], (a.row[k] % 13 - 6) * 100);
  return a;
}

/// [0 P; -P' 0] with P the differences of a grid of m x m: a symmetric pattern, and nothing on the diagonal.
coo<double> skew_grid(index_t m) {
  const index_t n = m * m;
  return kit::from_function(2 * n, [m, n](index_t i, index_t j) {
    if ((i < n) == (j < n)) return 0.0;
    const index_t p = i % n, q = j % n, apart = std::abs(p - q);
    const bool neighbours = apart == m || (apart == 1 && p / m == q / m);
    const double value = p == q ? 4.2 : neighbours ? -1.0 : 0.0;
    return i < n ? value : -value;
  });
}

std::vector<std::string> kinds() {
#if FURROW_HAS_SUPERLU
  return {"lu", "lu:dense", "lu:band", "lu:sparse"};
#else
  return {"lu:dense", "lu:band"};
#endif
}

template <class V> struct lu_preconditioner_of : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(lu_preconditioner_of, precisions);

#if FURROW_HAS_SUPERLU
/// An order that counts on pivots of the diagonal, which are zero here, leaves 1.45 MB, COLAMD 0.85, and COLAMD in the
/// two diagonal blocks 0.48.
TYPED_TEST(lu_preconditioner_of, a_diagonal_of_zeros_leaves_little_fill) {
  const auto m = make_preconditioner<TypeParam>("lu:sparse", kit::as_precision<TypeParam>(skew_grid(30)), {}, {});
  EXPECT_LT(m->stored_bytes(), 0.7e6);
  EXPECT_GT(m->stored_bytes(), 0.3e6);
}
#endif

TYPED_TEST(lu_preconditioner_of, any_matrix_is_its_inverse) {
  using V = TypeParam;
  for (const auto& name : kinds())
    for (const auto& given : {kit::laplacian(9, 7), without_diagonal(1), without_diagonal(3), without_diagonal(71)}) {
      const auto a = kit::as_precision<V>(given);
      const index_t n = a.shape.rows;
      const auto m = make_preconditioner<V>(name, a, {}, {});
      const auto expected = kit::random_vector<V>(n, 5);
      const auto b = kit::times<V>(given, expected);
      host_array<V> x(n);
      m->apply(as_cview(b), as_view(x));
      for (index_t i = 0; i < n; ++i)
        ASSERT_NEAR(x[i], expected[i], 1e3 * std::numeric_limits<V>::epsilon()) << name << ", row " << i;
    }
}

/// Of few rows and many, of bands and panels that plain loops factor and that blocks do, with A and with A'.
TEST(lu_factors, serve_two_vectors_as_one_after_the_other) {
  const auto banded = [](index_t n, index_t below, index_t above) {
    const auto r = kit::random_vector<double>(n * n, 4);
    return kit::from_function(n, [&](index_t i, index_t j) {
      return i - j <= below && j - i <= above ? r[i * n + j] + (i != j ? 0.0 : below * above > 0 ? 1.5 : 5.0) : 0.0;
    });
  };
  const auto check = [](const lu::columns& a, const lu::factors& f) {
    const index_t n = a.n;
    for (const bool transposed : {false, true}) {
      const auto wanted = kit::random_vector<double>(n, 5), other = kit::random_vector<double>(n, 6);
      host_array<double> x(n, 0.0), y(n, 0.0);
      for (index_t j = 0; j < n; ++j)
        for (index_t k = a.begin[j]; k < a.begin[j + 1]; ++k) {
          const index_t to = transposed ? j : a.row[k], from = transposed ? a.row[k] : j;
          x[to] += a.val[k] * wanted[from], y[to] += a.val[k] * other[from];
        }
      host_array<double> alone = x;
      f.solve(alone.data(), transposed);
      f.solve_two(x.data(), y.data(), transposed);
      for (index_t i = 0; i < n; ++i) {
        ASSERT_NEAR(x[i], wanted[i], 1e-7) << f.kind() << ' ' << n << transposed << i;
        ASSERT_NEAR(y[i], other[i], 1e-7) << f.kind() << ' ' << n << transposed << i;
        ASSERT_NEAR(alone[i], wanted[i], 1e-7) << f.kind() << ' ' << n << transposed << i;
      }
    }
  };
  for (const index_t n : {1, 2, 9, 70, 257}) {
    const auto a = lu::scale_and_sort(banded(n, n, n)).a;
    check(a, *lu::factor_dense(a));
  }
  for (const auto& [below, above] : {std::pair{0, 0}, {0, 3}, {3, 0}, {1, 1}, {4, 4}, {2, 9}, {70, 5}, {64, 64}}) {
    const auto a = lu::scale_and_sort(banded(150, below, above)).a;
    check(a, *lu::factor_band(a, lu::bandwidth_of(a)));
  }
#if FURROW_HAS_SUPERLU
  for (const auto& given : {kit::laplacian(30, 20), generate("convection2d:80:30").a, without_diagonal(300)}) {
    const auto a = lu::scale_and_sort(given).a;
    check(a, *lu::factor_sparse(a, 1e9));
  }
  const auto a = lu::scale_symmetric(kit::laplacian(30, 20))->a;
  check(a, *lu::factor_cholesky(a, lu::minimum_degree(a, 1e9), 1e9));
#endif
}

TEST(lu, takes_what_is_cheapest) {
  const auto diagonals = [](index_t n, std::vector<index_t> at) {
    return kit::from_function(n, [at](index_t i, index_t j) {
      return i == j ? 9.0 : std::ranges::count(at, std::abs(i - j)) ? 1.0 + double(i > j) : 0.0;
    });
  };
  const auto kind = [](const coo<double>& a) { return make_preconditioner<double>("lu", a, {}, {})->describe(); };
  EXPECT_EQ(kind(diagonals(72, {1, 30})).find("dense"), 0u);
  EXPECT_EQ(kind(diagonals(73, {1})).find("banded"), 0u);
  EXPECT_EQ(kind(diagonals(150, {1, 50})).find("dense"), 0u); // some five entries a row
#if FURROW_HAS_SUPERLU
  EXPECT_EQ(kind(diagonals(150, {100})).find("sparse"), 0u); // fewer
  EXPECT_EQ(kind(diagonals(210, {1, 50})).find("sparse"), 0u);
  for (const char* order : {"lu:order=degree", "lu:order=dissection"})
    for (const auto& a : {diagonals(1, {}), diagonals(72, {1, 30}), diagonals(73, {1})}) {
      const std::string told = make_preconditioner<double>(order, a, {}, {})->describe();
      EXPECT_EQ(told.find("dense"), told.npos) << told;
      EXPECT_EQ(told.find("banded"), told.npos) << told;
    }
#endif
}

TEST(lu, scales_rows_by_powers_of_two) {
  for (const auto& name : kinds()) {
    const auto a = badly_scaled(60);
    const auto m = make_preconditioner<double>(name, a, {}, {});
    const host_array<double> ones(60, 1.0);
    const auto b = kit::times(a, ones);
    host_array<double> x(60);
    m->apply(as_cview(b), as_view(x));
    for (const double v : x) ASSERT_NEAR(v, 1, 1e-14) << name;
  }
}

TEST(lu, names_the_column_of_a_singular_matrix) {
  for (const auto& name : kinds()) {
    const auto a = kit::from_function(8, [](index_t i, index_t j) {
      return j == 3 ? 0.0 : i == j ? 2.0 : j == i + 1 ? 1.0 : 0.0; // column 4 is empty
    });
    kit::expect_refusal(status::singular, "column 4", [&] { make_preconditioner<double>(name, a, {}, {}); });
  }
}

TEST(lu, finds_a_singular_matrix_by_its_values) {
  for (const auto& name : kinds()) {
    const auto a = kit::from_function(6, [](index_t i, index_t j) { // rows 1 and 2 are the same
      return i < 2 ? double(j < 3) : double(i == j) + double(j == 0);
    });
    kit::expect_refusal(status::singular, "", [&] { make_preconditioner<double>(name, a, {}, {}); });
  }
}

TEST(lu, takes_no_other_words) {
  const auto a = kit::laplacian(2, 2);
  for (const char* name : {"lu:full", "lu:dense:3"})
    EXPECT_THROW(make_preconditioner<double>(name, a, {}, {}), error) << name;
}

TEST(lu, estimates_the_condition_numbers) {
  // Lower bidiagonal with 1 and -t: the inverse has t^(i - j) below its diagonal.
  const double t = 3;
  const index_t n = 12;
  const auto a = kit::from_function(n, [t](index_t i, index_t j) { return i == j ? 1.0 : i == j + 1 ? -t : 0.0; });
  double sum = 0;
  for (index_t k = 0; k < n; ++k) sum += std::pow(t, k);
  for (const auto& name : kinds()) {
    const auto c = make_preconditioner<double>(name, a, {}, {})->condition();
    EXPECT_NEAR(c.norm_1 / ((1 + t) * sum), 1, 1e-10) << name;
    EXPECT_GT(c.skeel, sum) << name;
    EXPECT_LT(c.skeel, 3 * sum) << name;
  }
}

TEST(lu, sees_that_rows_are_only_badly_scaled) {
  const auto c = make_preconditioner<double>("lu:band", badly_scaled(60), {}, {})->condition();
  EXPECT_GT(c.norm_1, 1e300);
  EXPECT_LT(c.skeel, 100);
}

TEST(lu_norm_estimate, is_the_norm_of_matrices_that_hide_nothing) {
  const index_t n = 20;
  const auto r = kit::random_vector<double>(n * n, 8);
  double most = 0;
  for (index_t j = 0; j < n; ++j) {
    double sum = 0;
    for (index_t i = 0; i < n; ++i) sum += std::abs(r[i * n + j]);
    most = std::max(most, sum);
  }
  const auto product = [&](double* x, bool transposed) {
    std::vector<double> y(static_cast<std::size_t>(n), 0.0);
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j)
        y[static_cast<std::size_t>(i)] += (transposed ? r[j * n + i] : r[i * n + j]) * x[j];
    std::ranges::copy(y, x);
  };
  const double estimate = lu::norm_1_estimate(
      n, [&](double* x) { product(x, false); }, [&](double* x) { product(x, true); });
  EXPECT_LE(estimate, most * (1 + 1e-14));
  EXPECT_GE(estimate, most / 3);
}

#if FURROW_HAS_SUPERLU
TEST(lu_sparse, refuses_memory_beyond_its_budget_and_gives_back_what_it_took) {
  const auto a = kit::laplacian(60, 60);
  const auto scaled = [&] { return lu::scale_and_sort(a).a; };
  const auto whole = lu::factor_sparse(scaled(), 1e9);
  for (const double budget : {0.0, 1e5, whole->bytes() / 2, whole->bytes()}) {
    EXPECT_NE(kit::said_by(fault::memory, [&] { lu::factor_sparse(scaled(), budget); }), "") << budget;
  }
  host_array<double> x(3600, 1.0);
  whole->solve(x.data(), false); // the first factors are whole
  EXPECT_GT(x[0], 0);
}

/// A diagonal of 5,200, not symmetric among the last 300, where all places are full.
coo<double> full_at_its_end() {
  const index_t n = 5200, full = 300;
  std::vector<kit::triplet> entries;
  const auto v = kit::random_vector<double>(full * full, 5);
  for (index_t i = 0; i < n - full; ++i) entries.push_back({i, i, 2}), entries.push_back({i, i + 1, 1});
  for (index_t i = 0; i < full; ++i)
    for (index_t j = 0; j < full; ++j) entries.push_back({n - full + i, n - full + j, v[i * full + j]});
  return kit::assemble({n, n}, std::move(entries));
}

/// With supernodes of a column and of many, of few columns and of so many that SuperLU relaxes them, and with one dense
/// panel for all that fill in.
TEST(lu_sparse, solves_with_the_matrix_and_with_its_transpose) {
  std::vector<coo<double>> all;
  all.push_back(kit::laplacian(60, 60));
  all.push_back(generate("convection2d:80:30").a); // 6,400 columns
  all.push_back(without_diagonal(300));
  all.push_back(full_at_its_end());
  const auto drawn = kit::random_vector<double>(400 * 400, 6);
  all.push_back(kit::from_function(400, [&](index_t i, index_t j) {
    return std::abs(drawn[i * 400 + j]) < 0.02 ? 50 * drawn[i * 400 + j] : i == j ? 1.0 : 0.0;
  }));
  all.push_back(kit::from_function(40, [](index_t i, index_t j) { return 1 / double(i + 2 * j + 1) + (i == j); }));
  for (const auto& a : all)
    for (const bool transposed : {false, true}) {
      const auto s = lu::scale_and_sort(a);
      const auto f = lu::factor_sparse(s.a, 1e9);
      const host_array<double> wanted = kit::random_vector<double>(a.shape.rows, 3);
      host_array<double> x(a.shape.rows, 0.0);
      for (index_t j = 0; j < s.a.n; ++j)
        for (index_t k = s.a.begin[j]; k < s.a.begin[j + 1]; ++k)
          x[transposed ? j : s.a.row[k]] += s.a.val[k] * wanted[transposed ? s.a.row[k] : j];
      f->solve(x.data(), transposed);
      for (index_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], wanted[i], 1e-9) << a.shape.rows << transposed << i;
    }
}

/// Beside all sets of rows that the columns before can have.
TEST(lu_columns, have_a_row_each_or_one_is_named_that_has_none) {
  int named = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    const index_t n = 12;
    std::vector<kit::triplet> entries;
    const auto draw = kit::random_vector<double>(n * n, seed);
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j)
        if (draw[i * n + j] < -0.5) entries.push_back({i, j, 1});
    const auto a = lu::scale_and_sort(kit::assemble({n, n}, entries)).a;
    // reached[S]: whether the columns so far have a row each, together those of S.
    std::vector<char> reached(std::size_t(1) << n, 0);
    reached[0] = 1;
    for (index_t j = 0; j < n; ++j) {
      std::vector<char> next(reached.size(), 0);
      for (std::size_t rows = 0; rows < reached.size(); ++rows)
        for (index_t k = a.begin[j]; reached[rows] && k < a.begin[j + 1]; ++k)
          if (!(rows >> a.row[k] & 1)) next[rows | std::size_t(1) << a.row[k]] = 1;
      reached = std::move(next);
    }
    const index_t without = lu::transversal_of(a).without;
    EXPECT_EQ(without < 0, reached.back() == 1) << seed;
    named += without >= 0;
  }
  EXPECT_GT(named, 5);
  EXPECT_LT(named, 55);
}

TEST(lu_sparse, ends_where_it_is_told_to) {
  const auto a = lu::scale_and_sort(kit::laplacian(60, 60)).a;
  int asked = 0;
  {
    const stops_set_up stop([&]() -> std::optional<refusal> {
      if (++asked < 5) return {};
      return refusal{status::interrupted, "enough"};
    });
    EXPECT_THROW(lu::factor_sparse(a, 1e9), refusal);
  }
  EXPECT_EQ(asked, 5);
  EXPECT_GT(lu::factor_sparse(a, 1e9)->bytes(), 0); // nobody asks
  EXPECT_EQ(asked, 5);
}

/// A grid of 60 x 60 by minimum degree takes some 5e6.
TEST(lu_sparse, ends_at_its_operations) {
  const auto a = lu::scale_and_sort(kit::laplacian(60, 60)).a;
  kit::expect_refusal(status::max_iterations, "1e+06 operations", [&] { lu::factor_sparse(a, 1e9, 1e6); });
  EXPECT_GT(lu::factor_sparse(a, 1e9, 2e7)->bytes(), 0);
}

/// A grid without every seventh entry over its diagonal: COLAMD, which it would be ordered by for any pivots, leaves
/// twice as much. With a diagonal of which some is weak pivots move, and COLAMD it is.
TEST(lu_sparse, keeps_to_the_diagonal_of_a_nearly_symmetric_pattern) {
  const auto grid = [](double every_fifth) {
    auto a = kit::laplacian(40, 40);
    std::vector<kit::triplet> entries;
    for (index_t k = 0; k < a.nnz(); ++k)
      if (a.row[k] >= a.col[k] || k % 7 != 0)
        entries.push_back({a.row[k], a.col[k], a.row[k] == a.col[k] && a.row[k] % 5 == 0 ? every_fifth : a.val[k]});
    return lu::scale_and_sort(kit::assemble(a.shape, entries)).a;
  };
  const auto a = grid(4.0);
  ASSERT_FALSE(a.symmetric_pattern);
  const auto f = lu::factor_sparse(a, 1e9);
  EXPECT_LT(f->size().entries, 45e3);
  EXPECT_TRUE(f->size().is_bound);
  EXPECT_LE(f->size().entries, 1.3 * f->size().expected); // that of A + A', and zeros of supernodes
  EXPECT_GT(lu::factor_sparse(grid(0.01), 1e9)->size().expected, 1.5 * f->size().expected);
}

/// Minimum degree of rows at random takes seconds in one call of SuperLU, which has no stop of its own.
TEST(lu_ordering, ends_where_it_is_told_to_stop) {
  const auto c = lu::scale_and_sort(generate("random:3000:8").a).a;
  int asked = 0, most = 0;
  const auto order = [&] {
    const stops_set_up stop([&]() -> std::optional<refusal> {
      if (++asked <= most) return std::nullopt;
      return refusal{status::interrupted, "enough"};
    });
    return lu::minimum_degree(c, 1e9);
  };
  most = std::numeric_limits<int>::max();
  const auto place = order();
  const int all = asked;
  EXPECT_GT(all, 100);
  EXPECT_TRUE(std::ranges::equal(place, lu::minimum_degree(c, 1e9))) << "the same order, asked or not";
  most = all / 2, asked = 0;
  kit::expect_refusal(status::interrupted, "enough", order);
  EXPECT_EQ(asked, most + 1);
}

/// Entries off the diagonal that are larger than it and have any sign: pivots move, and fill in what the order of A +
/// A' did not count on. Of a symmetric pattern pivots stay down to a hundredth.
TEST(lu_sparse, gives_up_an_order_that_pivots_do_not_keep_to) {
  const auto a = kit::laplacian(50, 50);
  const auto r = kit::random_vector<double>(a.nnz(), 3);
  for (const bool symmetric_pattern : {false, true}) {
    std::vector<kit::triplet> entries;
    for (index_t k = 0; k < a.nnz(); ++k)
      if (a.row[k] == a.col[k]) entries.push_back({a.row[k], a.col[k], symmetric_pattern ? 0.001 : 0.11});
      else if (symmetric_pattern || k % 7 != 0) entries.push_back({a.row[k], a.col[k], r[k] < 0 ? -1.0 : 1.0});
    const auto c = lu::scale_and_sort(kit::assemble(a.shape, entries)).a;
    ASSERT_EQ(c.symmetric_pattern, symmetric_pattern);
    const double counted_on = lu::forecast_fill(c, lu::minimum_degree(c, 1e9), true).size.expected;
    EXPECT_GT(lu::factor_sparse(c, 1e9)->size().expected, 2 * counted_on); // COLAMD's, for any pivots
    kit::expect_refusal(status::max_iterations, "1e+05 operations", [&] { lu::factor_sparse(c, 1e9, 1e5); });
  }
}

TEST(lu_sparse, keeps_the_factors_of_an_arrow_sparse) {
  const index_t n = 3000; // in the order that is given, eliminating the first row fills the matrix
  coo<double> a{
      {n, n}, host_array<std::int32_t>(3 * n - 2), host_array<std::int32_t>(3 * n - 2), host_array<double>(3 * n - 2)};
  index_t k = 0;
  const auto put = [&](index_t i, index_t j, double v) {
    a.row[k] = std::int32_t(i), a.col[k] = std::int32_t(j), a.val[k++] = v;
  };
  for (index_t j = 0; j < n; ++j) put(0, j, j ? 1 : double(n));
  for (index_t i = 1; i < n; ++i) put(i, 0, 1), put(i, i, 2);
  const auto f = lu::factor_sparse(lu::scale_and_sort(a).a, 1e9);
  EXPECT_LT(f->bytes(), 400.0 * double(n));
}
#endif

} // namespace
} // namespace furrow
