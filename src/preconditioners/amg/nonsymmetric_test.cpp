// SPDX-License-Identifier: BSD-3-Clause
// Multigrid of matrices that are not symmetric.
#include "amg_test_kit.hpp"
#include "dense.hpp"
#include "setup.hpp"

#include "matrix/transpose.hpp"

#include <furrow/generate.hpp>

#include "kit/cycle_check.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/refused_by.hpp"
#include "kit/solve_check.hpp"
#include "kit/wind.hpp"

#include <cmath>
#include <cstring>
#include <vector>

namespace furrow::amg {
namespace {

template <class V>
solve_report solved(const coo<double>& a, const char* precond, const char* solver = "bicgstab", double rtol = 1e-8) {
  solve_options o;
  o.solver = solver, o.precond = precond, o.rtol = rtol, o.where = device{};
  const auto x = kit::random_vector<V>(a.shape.rows, 3);
  const auto [report, got] = kit::solve_honestly<V>(a, kit::times(a, x), o);
  EXPECT_EQ(report.why, status::converged) << precond << ": " << report.message;
  return report;
}

TEST(amg_nonsymmetric, takes_few_iterations_whatever_the_size_and_the_wind) {
  for (const double speed : {0.1, 10.0, 1000.0}) {
    EXPECT_LE(solved<double>(kit::wind_around(60, speed), "amg:sa").iterations, 12) << speed;
    EXPECT_LE(solved<double>(kit::wind_around(180, speed), "amg:sa").iterations, 18) << speed;
  }
  EXPECT_LE(solved<double>(kit::wind_around(120, 10, 1e-3), "amg:sa").iterations, 25);
  EXPECT_LE(solved<double>(generate("convection2d:120:5").a, "amg:sa").iterations, 12);
  EXPECT_LE(solved<double>(kit::wind_around(60, 10), "amg:sa:3").iterations, 10);
  EXPECT_LE(solved<double>(kit::wind_around(60, 10), "amg:sa:1").iterations, 20);
  EXPECT_LE(solved<float>(kit::wind_around(60, 10), "amg:sa", "bicgstab", 1e-4).iterations, 10);
  EXPECT_LE(solved<double>(kit::wind_around(60, 10), "amg", "gmres:50").iterations, 20);
}

TEST(amg_nonsymmetric, keeps_constants_where_rows_add_up_to_zero_and_sums_where_columns_do) {
  const auto a = kit::wind_around(40, 5);
  auto closed = rows_of(a); // rows add up to zero at the walls, too
  for (index_t i = 0; i < 1600; ++i) {
    double sum = 0;
    for (index_t k = closed.row_ptr[i]; k < closed.row_ptr[i + 1]; ++k) sum += closed.val[k];
    for (index_t k = closed.row_ptr[i]; k < closed.row_ptr[i + 1]; ++k) closed.val[k] -= closed.col[k] == i ? sum : 0;
  }
  const auto by_rows = nonsymmetric_aggregation<double>(closed.view());
  const auto& p = by_rows.levels[0].p;
  for (index_t i = 0; i < 1600; ++i) {
    double sum = 0;
    for (index_t k = p.row_ptr[i]; k < p.row_ptr[i + 1]; ++k) sum += p.val[k];
    ASSERT_NEAR(sum, 1, 1e-12);
  }
  const auto back = transposed(closed.view());
  const auto by_columns = nonsymmetric_aggregation<double>(back.view());
  std::vector<double> sums(1600, 0.0);
  const auto& r = by_columns.levels[0].r;
  for (index_t k = 0; k < r.val.size(); ++k) sums[r.col[k]] += r.val[k];
  for (const double sum : sums) ASSERT_NEAR(sum, 1, 1e-12);
}

TEST(amg_nonsymmetric, is_linear_and_the_same_for_every_number_of_threads) {
  const auto a = kit::wind_around(90, 20);
  const auto x = kit::random_vector<double>(8100, 1), y = kit::random_vector<double>(8100, 2);
  host_array<double> both(8100);
  for (index_t i = 0; i < 8100; ++i) both[i] = x[i] - 2 * y[i];
  const auto m = make_preconditioner<double>("amg:sa", a, device{}, {});
  const auto mx = kit::applied(*m, x), my = kit::applied(*m, y), mboth = kit::applied(*m, both);
  for (index_t i = 0; i < 8100; ++i) ASSERT_NEAR(mboth[i], mx[i] - 2 * my[i], 1e-4 * (1 + std::abs(mx[i])));
  for (const int threads : {1, 3}) {
    set_threads(threads);
    const auto again = kit::applied(*make_preconditioner<double>("amg:sa", a, device{}, {}), x);
    EXPECT_EQ(std::memcmp(again.data(), mx.data(), mx.byte_count()), 0) << threads;
  }
  set_threads(0);
}

// Conductances from 1e-3 to 1e3: smoothed P and R make a diagonal entry of a smaller level negative.
TEST(amg_nonsymmetric, adds_up_rows_where_smoothed_levels_lose_their_diagonal) {
  const auto a = kit::wind_over_jumps(200, 1);
  EXPECT_LE(solved<double>(a, "amg:sa").iterations, 40);
}

TEST(amg_nonsymmetric, is_refused_where_a_kind_or_a_diagonal_cannot_be_had) {
  const auto a = kit::wind_around(30, 5);
  for (const char* name : {"amg:grid", "amg:pairwise"}) {
    const auto said = kit::refused_by([&] { make_preconditioner<double>(name, a, device{}, {.flexible = true}); });
    EXPECT_EQ(said.why, status::breakdown);
    EXPECT_NE(said.message.find(std::string(name) + " is made for symmetric matrices"), std::string::npos);
  }
  auto negative = a;
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == 40 && a.col[k] == 40) negative.val[k] = -1;
  const auto said = kit::refused_by([&] { make_preconditioner<double>("amg", negative, device{}, {}); });
  EXPECT_NE(said.message.find("diagonal entry 41 is -1"), std::string::npos) << said.message;
}

TEST(amg_nonsymmetric, says_what_it_is) {
  const auto m = make_preconditioner<double>("amg", kit::wind_around(60, 5), device{}, {});
  EXPECT_EQ(m->describe().find("amg:sa:2: 3 levels, not symmetric, "), 0u) << m->describe();
}

TEST(amg_dense, inverts_what_is_not_symmetric) {
  const auto regular = rows_of(kit::wind_around(15, 30));
  const auto inverse = general_inverse(regular.view());
  ASSERT_TRUE(inverse);
  expect_inverse(regular, *inverse, 1e-11);
  // Pivots from other rows than their own.
  const auto turned = general_inverse(rows_of(kit::assemble({2, 2}, {{0, 1, 4}, {1, 0, -2}, {1, 1, 1}})).view());
  ASSERT_TRUE(turned);
  EXPECT_EQ(std::vector<double>(turned->begin(), turned->end()), (std::vector<double>{0.125, -0.5, 0.25, 0}));
}

TEST(amg_dense, answers_a_singular_matrix_in_its_range) {
  const auto a = kit::assemble({3, 3}, {{0, 0, 1}, {0, 1, -1}, {1, 1, 2}, {1, 2, -2}, {2, 0, -3}, {2, 2, 3}});
  const auto rows = rows_of(a);
  const auto inverse = general_inverse(rows.view());
  ASSERT_TRUE(inverse);
  const std::vector<double> b{3, -4, -3}; // of x = 2, -1, 1
  double x[3] = {};
  for (index_t i = 0; i < 3; ++i)
    for (index_t j = 0; j < 3; ++j) x[i] += (*inverse)[i * 3 + j] * b[j];
  EXPECT_NEAR(x[0] - x[1], 3, 1e-12);
  EXPECT_NEAR(x[1] - x[2], -2, 1e-12);
}

} // namespace
} // namespace furrow::amg
