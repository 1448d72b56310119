// SPDX-License-Identifier: BSD-3-Clause
#include "backward_error.hpp"
#include "dense_lu.hpp"
#include "ordering.hpp"
#include "panel_solve.hpp"
#include "supernodal_lu.hpp"

#include "kit/as_it_stands.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/refused_by.hpp"
#include "kit/said_by.hpp"
#include "kit/solve_check.hpp"
#include "preconditioners/entry.hpp"
#include "preconditioners/stop.hpp"

#include <furrow/device.hpp>
#include <furrow/generate.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace furrow {
namespace {

using list = std::vector<double>;

/// X L' = B row by row in long double, with what stands above the diagonal of L as it should not be.
TEST(panel_solve, is_substitution_from_the_right) {
  for (const bool unit : {false, true})
    for (const index_t w : {1, 4, 5, 16, 17, 33, 70})
      for (const index_t m : {1, 7, 192, 193, 400}) {
        list l = kit::random_numbers((w + 2) * w, 1), x = kit::random_numbers((m + 1) * w, 2);
        for (double& v : l) v /= 8;
        for (index_t j = 0; j < w; ++j) l[std::size_t(j * (w + 2) + j)] = unit ? 1e300 : 1.5 + 0.1 * double(j % 5);
        const list b = x;
        lu::solve_transposed_from_right({x.data(), m + 1}, m, {l.data(), w + 2}, w, unit);
        std::vector<long double> row(static_cast<std::size_t>(w));
        for (index_t i = 0; i < m; ++i)
          for (index_t j = 0; j < w; ++j) {
            long double v = b[std::size_t(j * (m + 1) + i)];
            for (index_t t = 0; t < j; ++t) v -= row[std::size_t(t)] * l[std::size_t(t * (w + 2) + j)];
            row[std::size_t(j)] = unit ? v : v / l[std::size_t(j * (w + 2) + j)];
            ASSERT_NEAR(x[std::size_t(j * (m + 1) + i)], double(row[std::size_t(j)]), 1e-11) << w << ' ' << m;
          }
        for (index_t j = 0; j < w; ++j) ASSERT_EQ(x[std::size_t(j * (m + 1) + m)], b[std::size_t(j * (m + 1) + m)]);
      }
}

TEST(dense_lu, makes_small_pivots_larger_and_counts_them) {
  const index_t n = 40;
  list a(std::size_t(n * n), 0.0);
  for (index_t j = 0; j < n; ++j) a[std::size_t(j * n + j)] = j == 7 ? -1e-20 : j == 33 ? 0 : 2;
  std::vector<int> pivots(static_cast<std::size_t>(n));
  lu::small_pivots small{1e-3, 0.01};
  EXPECT_EQ(lu::factor_dense_panel({a.data(), n}, n, n, pivots.data(), &small), -1);
  EXPECT_EQ(small.raised, 2);
  EXPECT_EQ(a[std::size_t(7 * n + 7)], -0.01);
  EXPECT_EQ(a[std::size_t(33 * n + 33)], 0.01);
}

/// x from A by elimination in long double with pivots from everywhere, which shares no formula with supernodes.
std::vector<long double> reference(const lu::columns& a, bool transposed, const host_array<double>& b) {
  const auto n = std::size_t(a.n);
  std::vector<std::vector<long double>> m(n, std::vector<long double>(n + 1, 0));
  for (index_t j = 0; j < a.n; ++j)
    for (index_t k = a.begin[j]; k < a.begin[j + 1]; ++k)
      m[std::size_t(transposed ? j : a.row[k])][std::size_t(transposed ? a.row[k] : j)] = a.val[k];
  for (std::size_t i = 0; i < n; ++i) m[i][n] = b[index_t(i)];
  for (std::size_t j = 0; j < n; ++j) {
    std::size_t p = j;
    for (std::size_t i = j; i < n; ++i)
      if (std::abs(m[i][j]) > std::abs(m[p][j])) p = i;
    std::swap(m[j], m[p]);
    for (std::size_t i = j + 1; i < n; ++i) {
      const long double f = m[i][j] / m[j][j];
      for (std::size_t k = j; f != 0 && k <= n; ++k) m[i][k] -= f * m[j][k];
    }
  }
  std::vector<long double> x(n);
  for (std::size_t j = n; j-- > 0;) {
    x[j] = m[j][n];
    for (std::size_t k = j + 1; k < n; ++k) x[j] -= m[j][k] * x[k];
    x[j] /= m[j][j];
  }
  return x;
}

/// A box of points, with other numbers than those on one side of the diagonal on the other, and a part of these left
/// out.
lu::columns flow(index_t nx, index_t ny, index_t nz, bool whole_pattern, double diagonal, unsigned seed = 3) {
  const auto a = kit::laplacian(nx, ny, nz);
  const auto r = kit::random_vector<double>(a.nnz(), seed);
  std::vector<kit::triplet> entries;
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) entries.push_back({a.row[k], a.col[k], diagonal});
    else if (whole_pattern || a.row[k] > a.col[k] || k % 5 != 0) entries.push_back({a.row[k], a.col[k], r[k]});
  return lu::scale_and_sort(kit::assemble(a.shape, entries)).a;
}

std::unique_ptr<lu::factors> factors_of(const lu::columns& a, const lu::supernodal_wish& wish = {},
                                        double budget = 1e9) {
  std::string why;
  return lu::factor_supernodal(a, kit::as_it_stands(a.n), budget, wish, why);
}

TEST(supernodal_lu, solves_with_the_matrix_and_its_transpose) {
  std::vector<lu::columns> all;
  all.push_back(flow(9, 7, 5, true, 4));
  all.push_back(flow(9, 7, 5, false, 4));
  all.push_back(flow(17, 13, 1, true, 2));
  all.push_back(flow(60, 1, 1, false, 1.5)); // a chain: supernodes of a column or two
  all.push_back(lu::scale_and_sort(kit::from_function(1, [](index_t, index_t) { return 3.0; })).a);
  all.push_back(lu::scale_and_sort(kit::from_function(150,
                                                      [](index_t i, index_t j) { // one supernode of all
                                                        return 1 / double(1 + i + 2 * j) +
                                                               (i == (j + 1) % 150 ? 2.0 : 0.0);
                                                      }))
                    .a);
  for (const lu::columns& a : all) {
    const auto f = factors_of(a);
    ASSERT_NE(f, nullptr) << a.n;
    EXPECT_LT(f->error, 1e-12);
    for (const bool transposed : {false, true}) {
      const auto b = kit::random_vector<double>(a.n, 5), c = kit::random_vector<double>(a.n, 6);
      const auto x = reference(a, transposed, b), y = reference(a, transposed, c);
      host_array<double> one = b, two = b, other = c;
      f->solve(one.data(), transposed);
      f->solve_two(two.data(), other.data(), transposed);
      for (index_t i = 0; i < a.n; ++i) {
        ASSERT_NEAR(one[i], double(x[std::size_t(i)]), 1e-9) << a.n << transposed << i;
        ASSERT_NEAR(two[i], double(x[std::size_t(i)]), 1e-9) << a.n << transposed << i;
        ASSERT_NEAR(other[i], double(y[std::size_t(i)]), 1e-9) << a.n << transposed << i;
      }
    }
  }
}

TEST(supernodal_lu, has_the_same_bits_for_any_number_of_threads) {
  const lu::columns a = flow(14, 14, 14, true, 7); // panels from 4e6 operations on
  const int before = threads();
  host_array<double> first;
  for (const int count : {1, 2, 3, 4}) {
    set_threads(count);
    const auto f = factors_of(a);
    host_array<double> x(a.n, 1.0);
    f->solve(x.data(), false);
    if (first.empty()) first = x;
    EXPECT_TRUE(std::ranges::equal(x, first)) << count;
  }
  set_threads(before);
}

/// Rows of one supernode, the last of which has the first one's pivot, and one that is nowhere there.
TEST(supernodal_lu, looks_for_pivots_inside_of_supernodes) {
  const auto full = [](double corner) {
    return lu::scale_and_sort(kit::from_function(30,
                                                 [corner](index_t i, index_t j) {
                                                   return i == j ? (i % 2 == 0 ? corner : 3.0) : 1 / double(2 + i + j);
                                                 }))
        .a;
  };
  const auto f = factors_of(full(1e-30));
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->raised, 0);
  EXPECT_LT(f->error, 1e-14);
}

/// A diagonal without its first entry, whose column has its other one in another supernode.
lu::columns without_a_pivot(double there) {
  return lu::scale_and_sort(kit::from_function(40,
                                               [there](index_t i, index_t j) {
                                                 return i == j                 ? (i == 0 ? there : 4.0)
                                                        : i == 0 || j == 0     ? (std::max(i, j) == 30 ? 2.0 : 0.0)
                                                        : std::abs(i - j) == 1 ? 1.0
                                                                               : 0.0;
                                               }))
      .a;
}

TEST(supernodal_lu, is_null_where_a_pivot_is_elsewhere_and_by_name_raises_it) {
  std::string why;
  const lu::columns a = without_a_pivot(1e-30);
  EXPECT_EQ(lu::factor_supernodal(a, kit::as_it_stands(40), 1e9, {}, why), nullptr);
  EXPECT_NE(why.find("pivots from outside"), std::string::npos);
  EXPECT_NE(factors_of(without_a_pivot(1)), nullptr);
  const auto f = factors_of(a, {.exact = false});
  EXPECT_EQ(f->raised, 1);
  EXPECT_GT(f->error, 1e-12);
  EXPECT_LT(f->error, 1e-6);
}

#if FURROW_HAS_SUPERLU
/// A cube of points without a diagonal, whose pivots vanish here and there.
coo<double> without_diagonal_entries(index_t n) {
  const auto a = kit::laplacian(n, n, n);
  std::vector<kit::triplet> entries;
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] != a.col[k]) entries.push_back({a.row[k], a.col[k], a.val[k]});
  return kit::assemble(a.shape, entries);
}

TEST(supernodal_lu, tells_by_name_what_it_made_larger_and_refinement_makes_it_good) {
  const auto a = without_diagonal_entries(10);
  solve_options by;
  by.solver = "direct", by.precond = "lu:supernodal";
  const auto [report, x] = kit::solve_honestly(a, kit::random_vector<double>(a.shape.rows, 4), by);
  EXPECT_EQ(report.why, status::converged);
  const auto m = make_preconditioner<double>("lu:supernodal", a, {}, {});
  EXPECT_NE(m->describe().find("pivots made larger"), std::string::npos) << m->describe();
  EXPECT_EQ(m->condition().norm_1, 0) << "that of another matrix";
}

TEST(supernodal_lu, refuses_by_name_what_is_no_inverse) {
  kit::expect_refusal(status::breakdown, "take lu",
                      [] { make_preconditioner<double>("lu:supernodal", without_diagonal_entries(12), {}, {}); });
}
#endif

TEST(supernodal_lu, is_null_where_its_error_is_no_rounding) {
  // Pivots of 1e-12 are no rounding by themselves, and those that they leave are.
  std::string why;
  EXPECT_EQ(lu::factor_supernodal(without_a_pivot(1e-12), kit::as_it_stands(40), 1e9, {}, why), nullptr);
  EXPECT_NE(why.find("error of"), std::string::npos) << why;
}

TEST(supernodal_lu, knows_its_size_before_and_keeps_to_it) {
  const lu::columns a = flow(9, 7, 5, true, 4);
  const auto f = factors_of(a);
  EXPECT_EQ(f->size().expected_bytes, f->bytes());
  EXPECT_GE(f->size().entries, f->size().expected);
  EXPECT_LT(f->size().entries, 2 * f->size().expected);
  for (const double budget : {0.0, 1e4, f->bytes() / 2})
    EXPECT_NE(kit::said_by(fault::memory, [&] { factors_of(a, {}, budget); }), "") << budget;
}

TEST(supernodal_lu, ends_where_it_is_told_to) {
  const lu::columns a = flow(40, 40, 1, true, 4);
  int asked = 0;
  const stops_set_up stop([&]() -> std::optional<refusal> {
    if (++asked < 3) return {};
    return refusal{status::interrupted, "enough"};
  });
  EXPECT_THROW(factors_of(a), refusal);
  EXPECT_EQ(asked, 3);
}

TEST(backward_error, is_that_of_factors_of_another_matrix) {
  lu::columns a = flow(12, 10, 1, true, 4);
  const auto f = factors_of(a);
  EXPECT_LT(lu::backward_error(a, *f), 1e-15 * 4);
  for (index_t k = a.begin[7]; k < a.begin[8]; ++k)
    if (a.row[k] == 7) a.val[k] *= 1 + 1e-6;
  const double error = lu::backward_error(a, *f);
  EXPECT_GT(error, 1e-8);
  EXPECT_LT(error, 1e-6);
  a.val[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(lu::backward_error(a, *f)));
}

#if FURROW_HAS_SUPERLU
std::string kind_of(const coo<double>& a, const char* name = "lu") {
  return make_preconditioner<double>(name, a, {}, {})->describe();
}

/// Convection and diffusion in space by central differences.
coo<double> convection(index_t n, double wind) {
  auto a = kit::laplacian(n, n, n);
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] != a.col[k]) a.val[k] += a.col[k] > a.row[k] ? wind : -wind;
  return a;
}

TEST(supernodal_lu, is_taken_alone_where_operations_promise_that_it_pays) {
  EXPECT_EQ(kind_of(convection(18, 0.7)).find("supernodal factors"), 0u);              // 5,832 rows
  EXPECT_EQ(kind_of(convection(6, 0.7)).find("sparse factors"), 0u);                   // few columns, which fit a cache
  EXPECT_EQ(kind_of(generate("convection2d:80:30").a).find("supernodal factors"), 0u); // 6,400 rows
  EXPECT_EQ(kind_of(convection(6, 0.7), "lu:supernodal").find("supernodal factors"), 0u);
  EXPECT_EQ(kind_of(convection(18, 0.7), "lu:sparse").find("sparse factors"), 0u);
}

TEST(supernodal_lu, leaves_pivots_that_it_cannot_have_to_others) {
  auto a = convection(18, 0.7);
  for (index_t k = 0; k < a.nnz(); ++k) // every third point has next to nothing on its diagonal
    if (a.row[k] == a.col[k] && a.row[k] % 3 == 0) a.val[k] = 1e-17;
  const auto expected = kit::random_vector<double>(a.shape.rows, 9);
  const auto b = kit::times<double>(a, expected);
  solve_options by;
  by.solver = "direct";
  const auto [report, x] = kit::solve_honestly(a, b, by);
  EXPECT_EQ(report.why, status::converged);
  EXPECT_NE(kind_of(a).find("sparse factors"), std::string::npos);
  EXPECT_NE(kind_of(a).find("for those by supernodes"), std::string::npos) << kind_of(a);
}

TEST(supernodal_lu, leaves_the_sentence_of_a_singular_matrix_as_it_is) {
  const auto a = convection(18, 0.7);
  const index_t n = a.shape.rows;
  std::vector<kit::triplet> all;
  for (index_t k = 0; k < a.nnz(); ++k) all.push_back({a.row[k], a.col[k], a.val[k]});
  for (const index_t i : {n, n + 1}) // two equal rows
    for (const index_t j : {n, n + 1}) all.push_back({i, j, 1});
  const auto singular = kit::assemble({n + 2, n + 2}, all);
  for (const char* name : {"lu", "lu:sparse"})
    kit::expect_refusal(status::singular, "the matrix is singular: column 583",
                        [&] { make_preconditioner<double>(name, singular, {}, {}); });
}

TEST(supernodal_lu, estimates_the_condition_numbers) {
  const auto a = convection(9, 0.8);
  const auto c = make_preconditioner<double>("lu:supernodal", a, {}, {})->condition(),
             other = make_preconditioner<double>("lu:dense", a, {}, {})->condition();
  EXPECT_NEAR(c.norm_1 / other.norm_1, 1, 1e-6);
  EXPECT_NEAR(c.skeel / other.skeel, 1, 1e-6);
}

TEST(supernodal_lu, serves_floats_and_rows_of_any_scale) {
  auto a = convection(9, 0.8);
  const auto wanted = kit::random_vector<float>(a.shape.rows, 4);
  const auto b = kit::times<float>(a, wanted);
  host_array<float> x(wanted.size());
  make_preconditioner<float>("lu:supernodal", kit::as_precision<float>(a), {}, {})->apply(as_cview(b), as_view(x));
  for (index_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], wanted[i], 1e-4);
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] = std::ldexp(a.val[k], (a.row[k] % 13 - 6) * 50);
  const host_array<double> ones(a.shape.rows, 1.0);
  const auto c = kit::times(a, ones);
  host_array<double> y(ones.size());
  make_preconditioner<double>("lu:supernodal", a, {}, {})->apply(as_cview(c), as_view(y));
  for (const double v : y) ASSERT_NEAR(v, 1, 1e-11);
}

TEST(supernodal_lu, refuses_operations_beyond_those_it_may_take) {
  const auto a = convection(18, 0.7);
  for (const char* name : {"lu", "lu:supernodal"}) {
    const bounds_operations bound(1e6);
    kit::expect_refusal(status::max_iterations, "1e+06 operations",
                        [&] { make_preconditioner<double>(name, a, {}, {}); });
  }
}
#endif

} // namespace
} // namespace furrow
