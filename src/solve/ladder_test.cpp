// SPDX-License-Identifier: BSD-3-Clause
#include "rungs.hpp"
#include "solve_test_kit.hpp"

#include "preconditioners/entry.hpp"

#include <furrow/device.hpp>
#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

namespace furrow {
namespace {

using namespace solve_test;

constexpr inventory everything{[](std::string_view) { return true; }, [](std::string_view) { return true; }};
constexpr inventory little{[](std::string_view name) { return name == "cg" || name == "bicgstab"; },
                           [](std::string_view name) { return name == "jacobi" || name == "none"; }};

features large_matrix() {
  features f;
  f.rows = f.dominant = 1000000;
  f.nnz = 7000000;
  f.longest_row = 7;
  f.symmetric = true;
  return f;
}

/// Not symmetric, with zeros on the diagonal.
features large_matrix_to_match() {
  features f = large_matrix();
  f.symmetric = false;
  f.zero_diagonal = 5;
  return f;
}

std::string names(const std::vector<rung_plan>& rungs) {
  std::string text;
  for (const rung_plan& r : rungs) text += r.solver + "+" + r.precond + " ";
  return text;
}

TEST(rungs, of_symmetric_matrices_begin_with_what_is_cheap_and_end_without_an_outlook) {
  const auto list = rungs_for(large_matrix(), everything);
  EXPECT_EQ(names(list), "cg+jacobi cg+amg direct+lu cg+ic0 direct+lu cg+jacobi ");
  EXPECT_GT(list.front().outlook, 0);
  EXPECT_TRUE(list[2].is_bounded());
  EXPECT_GT(list[2].operations.of_cholesky, list[2].operations.most);
  EXPECT_GT(list[2].operations.to_the_end, list[2].operations.most);
  EXPECT_FALSE(list[4].is_bounded());
  EXPECT_EQ(list.back().outlook, 0);
  for (const rung_plan& r : list) EXPECT_FALSE(r.reason.empty());
}

TEST(rungs, of_a_gpu_are_patient_before_one_of_the_host) {
  inventory on_gpu = everything;
  on_gpu.on_gpu = true;
  const auto host = rungs_for(large_matrix(), everything), all_there = rungs_for(large_matrix(), on_gpu);
  on_gpu.runs_on_gpu = [](std::string_view name) { return name == "jacobi"; };
  const auto little_there = rungs_for(large_matrix(), on_gpu);
  ASSERT_EQ(names(little_there), names(host));
  EXPECT_EQ(all_there.front().outlook, 2 * host.front().outlook); // multigrid has to get there first
  EXPECT_EQ(all_there[1].outlook, host[1].outlook);
  EXPECT_EQ(little_there.front().outlook, 20 * host.front().outlook);
  EXPECT_EQ(little_there[1].outlook, host[1].outlook); // from the host to the host

  on_gpu.runs_on_gpu = [](std::string_view name) { return name != "lu"; };
  on_gpu.by_levels = [](std::string_view name) { return name == "ilu" || name == "ilut" || name == "ic0"; };
  const auto without_factors = rungs_for(large_matrix(), on_gpu), to_match = rungs_for(large_matrix_to_match(), on_gpu);
  EXPECT_EQ(without_factors[1].outlook, 20 * host[1].outlook); // multigrid, before complete factors
  for (const rung_plan& r : without_factors)
    EXPECT_TRUE(r.precond != "ic0" || r.outlook == host[3].outlook) << r.outlook;
  const auto on_host = rungs_for(large_matrix_to_match(), everything);
  ASSERT_EQ(names(to_match), names(on_host));
  for (std::size_t k = 0; k < to_match.size(); ++k)
    EXPECT_TRUE(!on_gpu.by_levels(to_match[k].precond) || to_match[k].outlook == on_host[k].outlook) << k;
}

TEST(rungs, of_few_rows_are_factorised_early) {
  features f = large_matrix();
  f.rows = f.dominant = 2000;
  EXPECT_EQ(names(rungs_for(f, everything)).find("cg+jacobi direct+lu"), 0u);
  f.symmetric = false;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+jacobi direct+lu"), 0u);
  f.zero_diagonal = 1;
  EXPECT_EQ(names(rungs_for(f, everything)).find("direct+lu"), 0u);
  f.zero_diagonal = 0, f.scales = 1e5; // a small residual would say nothing of small rows
  EXPECT_EQ(names(rungs_for(f, everything)).find("direct+lu"), 0u);
}

TEST(rungs, of_rows_of_like_sizes_try_their_diagonal_before_factors) {
  features f = large_matrix();
  f.symmetric = false;
  const auto usual = rungs_for(f, everything);
  f.dominant = 0;
  const auto weak = rungs_for(f, everything);
  EXPECT_EQ(names(weak), names(usual));
  EXPECT_LT(weak.front().outlook, usual.front().outlook);
  inventory ranks = everything;
  ranks.on_ranks = true;
  EXPECT_EQ(names(rungs_for(f, ranks)).find("bicgstab+ilu "), 0u);
  f.small_diagonal = 1;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+ilu "), 0u);
  f.rows = 2000, f.small_diagonal = 0;
  const auto few = rungs_for(f, everything);
  EXPECT_EQ(names(few).find("bicgstab+jacobi direct+lu"), 0u);
  EXPECT_LT(few.front().outlook, weak.front().outlook);
  inventory on_gpu = everything;
  on_gpu.on_gpu = true; // whose start takes as long as factors of few rows
  EXPECT_EQ(names(rungs_for(f, on_gpu)).find("direct+lu"), 0u);
}

TEST(rungs, of_some_rows_have_factors_before_multigrid_that_take_few_operations) {
  features f = large_matrix();
  f.rows = f.dominant = 40000, f.nnz = 1000000;
  const auto list = rungs_for(f, everything);
  EXPECT_EQ(names(list), "cg+jacobi direct+lu cg+amg direct+lu cg+ic0 direct+lu cg+jacobi ");
  EXPECT_GT(list[3].operations.of_cholesky, list[1].operations.of_cholesky);
  EXPECT_FALSE(list[5].is_bounded());
  f.diagonals = 7; // a grid's
  EXPECT_EQ(names(rungs_for(f, everything)).find("cg+jacobi cg+amg"), 0u);
  f.diagonals = 0;
  inventory other = everything;
  other.on_gpu = true;
  EXPECT_EQ(names(rungs_for(f, other)).find("cg+jacobi cg+amg"), 0u);
  other = everything;
  other.on_ranks = true;
  EXPECT_EQ(names(rungs_for(f, other)).find("cg+jacobi cg+amg"), 0u);
}

TEST(rungs, of_grids_come_to_multigrid_sooner) {
  features f = large_matrix();
  const auto usual = rungs_for(f, everything);
  f.diagonals = 7;
  const auto grid = rungs_for(f, everything);
  EXPECT_EQ(names(grid), names(usual));
  EXPECT_LT(grid.front().outlook, usual.front().outlook);
  inventory on_gpu = everything;
  on_gpu.on_gpu = true;
  EXPECT_EQ(rungs_for(f, on_gpu).front().outlook, grid.front().outlook);
  EXPECT_LT(rungs_for(f, on_gpu).front().outlook, rungs_for(large_matrix(), on_gpu).front().outlook);
}

TEST(rungs, of_what_fits_on_the_chip_of_a_gpu_begin_there) {
  const features f = large_matrix();
  inventory on_gpu = everything;
  on_gpu.on_gpu = true;
  const auto usual = rungs_for(f, on_gpu);
  on_gpu.fits_on_chip = true;
  const auto chip = rungs_for(f, on_gpu);
  EXPECT_EQ(names(usual).find("cg+jacobi "), 0u);
  EXPECT_EQ(names(chip), "cg_resident" + names(usual).substr(2));
  EXPECT_GT(chip.front().outlook, 2 * usual.front().outlook);
  EXPECT_EQ(rungs_with("none", f, on_gpu).front().solver, "cg_resident");
  EXPECT_EQ(rungs_with("ic0", f, on_gpu).front().solver, "cg");
  features indefinite = f;
  indefinite.negative_diagonal = 5;
  EXPECT_EQ(names(rungs_for(indefinite, on_gpu)).find("cg_resident"), std::string::npos);
}

TEST(rungs, of_some_rows_are_factorised_where_the_first_iteration_is_slow) {
  features f = large_matrix_to_match();
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+ilu direct+lu gmres:50+ilut direct+lu"), 0u);
  f.rows = f.dominant = 5000;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+ilu direct+lu gmres:50+ilut"), 0u);
}

TEST(rungs, of_some_rows_that_want_matching_are_factorised_first_where_entries_are_few) {
  features f = large_matrix_to_match();
  f.rows = f.dominant = 4900, f.nnz = 33000;
  const auto list = rungs_for(f, everything);
  EXPECT_EQ(names(list), "direct+lu bicgstab+ilut gmres:50+ilut bicgstab+none lsmr+jacobi ");
  EXPECT_TRUE(list.front().reason.find("matching") != std::string::npos) << list.front().reason;
  f.nnz = 330000; // more fill
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+ilut direct+lu gmres:50+ilut"), 0u);
  f.nnz = 33000, f.zero_diagonal = 0; // a diagonal that says something
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+jacobi bicgstab+ilut direct+lu"), 0u);
}

TEST(rungs, of_few_entries_have_more_fill_at_once_where_the_host_factors) {
  features f = large_matrix_to_match();
  f.rows = f.dominant = 20000, f.nnz = 800000;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+ilut direct+lu gmres:50+ilut direct+lu"), 0u);
  inventory elsewhere = everything;
  elsewhere.on_ranks = true;
  EXPECT_EQ(names(rungs_for(f, elsewhere)).find("bicgstab+ilu "), 0u);
  elsewhere.on_ranks = false, elsewhere.on_gpu = true;
  EXPECT_EQ(names(rungs_for(f, elsewhere)).find("bicgstab+ilu "), 0u);
  f.nnz = 800001;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+ilu "), 0u);
}

TEST(rungs, of_rectangular_and_singular_matrices_end_with_least_squares) {
  features f = large_matrix();
  EXPECT_EQ(names(rungs_for_singular(f, everything)), "cg+jacobi direct+lu lsmr+jacobi direct+lu lsmr+jacobi ");
  f.symmetric = false;
  EXPECT_EQ(names(rungs_for_singular(f, everything)), "direct+lu lsmr+jacobi direct+lu lsmr+jacobi ");
  f.more_columns = -10;
  EXPECT_EQ(names(rungs_for(f, everything)), "lsmr+jacobi ");
  EXPECT_EQ(names(rungs_with("none", f, everything)), "lsmr+none ");
  f.more_columns = 10;
  EXPECT_EQ(names(rungs_for(f, everything)), "lsmr+none lsmr+jacobi ");
}

TEST(rungs, of_other_matrices_never_ask_for_what_they_lack) {
  features f = large_matrix();
  f.negative_diagonal = 5;
  EXPECT_EQ(names(rungs_for(f, everything)).find("cg+"), std::string::npos);
  f.symmetric = false;
  f.negative_diagonal = 0;
  f.zero_diagonal = 3;
  EXPECT_EQ(names(rungs_for(f, everything)).find("bicgstab+jacobi"), std::string::npos);
}

TEST(rungs, are_those_that_the_build_has) {
  features f = large_matrix();
  for (const bool symmetric : {true, false})
    for (const index_t negative : {index_t(0), index_t(10)})
      for (const index_t zero : {index_t(0), index_t(10)}) {
        f.symmetric = symmetric, f.negative_diagonal = negative, f.zero_diagonal = zero;
        const auto list = rungs_for(f, little);
        ASSERT_FALSE(list.empty());
        for (const rung_plan& r : list)
          EXPECT_TRUE(little.has_solver(r.solver) && little.has_preconditioner(r.precond));
        EXPECT_FALSE(rungs_for_indefinite(f, little).empty());
        EXPECT_FALSE(rungs_with("none", f, little).empty());
      }
}

TEST(rungs, with_a_named_preconditioner_leave_out_methods_that_cannot_have_it) {
  inventory there = everything;
  there.suits = suits;
  features f = large_matrix();
  f.symmetric = true;
  EXPECT_EQ(names(rungs_with("ic0", f, there)), "cg+ic0 minres+ic0 bicgstab+ic0 gmres:50+ic0 ");
  EXPECT_EQ(names(rungs_with("ilu:1", f, there)), "bicgstab+ilu:1 gmres:50+ilu:1 ");
  EXPECT_EQ(names(rungs_with("chebyshev", f, there)), "cg+chebyshev bicgstab+chebyshev gmres:50+chebyshev ");
}

solve_options automatic(double rtol = 1e-10) {
  solve_options o;
  o.rtol = rtol;
  return o;
}

TEST(ladder, takes_cg_where_it_will_do) {
  const auto a = kit::laplacian(20, 20);
  const auto s = kit::solve_honestly(a, kit::times(a, ones(400)), automatic());
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_EQ(s.report.solver, "cg");
  EXPECT_EQ(s.report.precond, "jacobi");
  ASSERT_EQ(s.report.rungs.size(), 1u);
  EXPECT_EQ(s.report.rungs[0].iterations, s.report.iterations);
}

TEST(ladder, solves_what_cg_cannot) {
  for (const char* spec : {"convection2d:20:30", "convection2d:50:1"}) {
    const auto a = generate(spec).a;
    const auto s = kit::solve_honestly(a, kit::times(a, ones(a.shape.cols)), automatic());
    EXPECT_EQ(s.report.why, status::converged) << spec << ": " << s.report.message;
    EXPECT_NE(s.report.solver, "cg") << spec;
  }
}

TEST(ladder, negates_a_negative_definite_matrix) {
  auto a = kit::laplacian(15, 15);
  for (double& v : a.val) v = -v;
  const auto s = kit::solve_honestly(a, kit::times(a, ones(225)), automatic());
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_EQ(s.report.solver, "cg");
  for (const double v : s.x) EXPECT_NEAR(v, 1, 1e-7);
}

TEST(ladder, goes_on_where_a_matrix_proves_indefinite) {
  auto a = kit::laplacian(12, 12); // eigenvalues from 0.1 to 7.9, shifted through zero
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] -= 1.03;
  const auto s = kit::solve_honestly(a, kit::random_vector<double>(144, 3), automatic(1e-8));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  ASSERT_GE(s.report.rungs.size(), 2u);
  EXPECT_EQ(s.report.rungs[0].why, status::not_positive_definite);
  EXPECT_FALSE(s.report.rungs[0].outcome.empty());
}

#if FURROW_HAS_SUPERLU
/// A grid of 90 x 90 points without so much of its diagonal: 8,100 rows, some of whose eigenvalues are negative.
coo<double> shifted_grid(double by) {
  auto a = kit::laplacian(90, 90);
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] -= by;
  return a;
}

/// How often a ladder came to complete factors.
index_t times_factored(const solve_report& r) {
  return std::ranges::count(r.rungs, std::string("direct"), &solve_rung::solver);
}

TEST(ladder, has_complete_factors_before_restarts_where_they_take_few_operations) {
  const auto a = shifted_grid(0.5);
  const auto s = kit::solve_honestly(a, ones(a.shape.rows), automatic(1e-8));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_EQ(s.report.solver, "direct");
  for (const solve_rung& r : s.report.rungs) EXPECT_NE(r.solver, "gmres:50");
}

/// lambda of the eigenvector sin(pi k / 91) sin(pi l / 91), which b is not orthogonal to: there is no answer.
TEST(ladder, believes_factors_in_whose_solutions_no_digit_is_right) {
  const auto a = shifted_grid(8 * std::pow(std::sin(std::acos(-1.0) / 182), 2));
  const auto s = kit::solve_honestly(a, ones(a.shape.rows), automatic(1e-8));
  EXPECT_EQ(s.report.why, status::least_squares) << s.report.message;
  EXPECT_EQ(times_factored(s.report), 1);
  EXPECT_EQ(s.report.rungs.back().solver, "lsmr");
}

/// A grid between whose cells coefficients differ by up to 1e12: rounding of A x alone is above the goal.
TEST(ladder, ends_where_rounding_lets_no_method_get_further) {
  auto a = kit::laplacian(90, 90);
  std::vector<double> row_sums(90 * 90, 1e-3);
  const auto r = kit::random_vector<double>(90 * 90, 6);
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] != a.col[k]) {
      const double c = std::pow(10.0, 6 * (1 + std::min(r[a.row[k]], r[a.col[k]])));
      a.val[k] = -c, row_sums[std::size_t(a.row[k])] += c;
    }
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] = row_sums[std::size_t(a.row[k])];
  const auto s = kit::solve_honestly(a, kit::random_vector<double>(a.shape.rows, 4), automatic(1e-14));
  EXPECT_EQ(s.report.why, status::stagnated) << s.report.message;
  EXPECT_TRUE(s.report.message.find("rounding limits this matrix") != std::string::npos) << s.report.message;
  EXPECT_EQ(s.report.rungs.back().solver, "direct");
  EXPECT_EQ(times_factored(s.report), 1);
  EXPECT_FALSE(s.report.untried.empty());
}
#endif

TEST(ladder, never_hands_back_an_x_that_is_worse_than_the_first_guess) {
  const coo<double> a{{3, 3}, {0, 0, 1, 2}, {0, 1, 1, 0}, {1, 2, 3, 4}}; // its last column is empty
  const host_array<double> b{1, 1, 1};
  const auto s = kit::solve_honestly(a, b, automatic());
  EXPECT_NE(s.report.why, status::converged);
  EXPECT_LE(s.report.relative_residual, 1 + 1e-14);
}

TEST(ladder, has_the_same_bits_for_every_number_of_threads) {
  const auto a = generate("convection2d:70:50").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 9);
  host_array<double> first;
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    auto s = kit::solve_honestly(a, b, automatic(1e-6));
    if (count == 1) first = std::move(s.x);
    else EXPECT_TRUE(kit::same_bits(as_cview(first), as_cview(s.x)));
  }
  set_threads(0);
}

TEST(ladder, begins_where_the_last_answer_came_from) {
  auto a = kit::laplacian(12, 12);
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] -= 1.03;
  solver<double> kept(a, automatic(1e-8));
  const auto b = kit::random_vector<double>(144, 3);
  host_array<double> x(144, 0.0), again(144, 0.0);
  const auto one = kept.solve(as_cview(b), as_view(x)), two = kept.solve(as_cview(b), as_view(again));
  EXPECT_GT(one.rungs.size(), 1u);
  EXPECT_EQ(two.rungs.size(), 1u);
  EXPECT_EQ(two.solver, one.solver);
  EXPECT_EQ(two.rungs[0].setup_seconds, 0);
  EXPECT_EQ(two.why, status::converged);
}

TEST(ladder, counts_the_iterations_of_all_rungs_against_the_limit) {
  const auto a = generate("convection2d:40:80").a;
  auto o = automatic(1e-14);
  o.max_iterations = 9;
  const auto s = kit::solve_honestly(a, kit::random_vector<double>(a.shape.rows, 4), o);
  index_t sum = 0;
  for (const solve_rung& r : s.report.rungs) sum += r.iterations;
  EXPECT_LE(sum, 9);
}

TEST(ladder, takes_the_preconditioner_that_was_asked_for) {
  auto o = automatic();
  o.precond = "none";
  const auto a = kit::laplacian(10, 10);
  EXPECT_EQ(kit::solve_honestly(a, ones(100), o).report.precond, "none");
  o.precond = "jacobi:7";
  EXPECT_THROW(kit::solve_honestly(a, ones(100), o), error);
}

TEST(ladder, solves_in_single_precision) {
  const auto a = generate("convection2d:20:30").a;
  auto o = automatic(1e-4);
  o.values = precision::f32;
  host_array<double> x(400, 0.0);
  const auto report = solve(a, as_cview(kit::times(a, ones(400))), as_view(x), o);
  EXPECT_EQ(report.why, status::converged) << report.message;
  EXPECT_FALSE(report.rungs.empty());
}

TEST(ladder, gives_singular_systems_without_an_answer_the_nearest_x) {
  for (const index_t n : {20, 60}) {                 // few rows, and more
    const auto a = kit::laplacian(n, n, 1, true, 0); // its null vector is constant
    auto b = kit::random_vector<double>(n * n, 5);
    for (double& v : b) v += 0.5;
    const auto s = kit::solve_honestly(a, b, automatic(1e-8));
    EXPECT_EQ(s.report.why, status::least_squares) << s.report.message;
    EXPECT_TRUE(mentions(s.report.message, "not in the range")) << s.report.message;
    double mean = 0, squares = 0;
    for (const double v : b) mean += v / double(n * n), squares += v * v;
    EXPECT_NEAR(s.report.relative_residual, std::abs(mean) * double(n) / std::sqrt(squares), 1e-9);
    for (double& v : b) v -= mean;
    EXPECT_EQ(kit::solve_honestly(a, b, automatic(1e-8)).report.why, status::converged);
  }
}

TEST(ladder, says_of_an_x_that_is_one_of_many_that_it_is) {
  const auto made_of = [](index_t twin) { // row 3 is the same as the other one
    return kit::from_function(40, [=](index_t i, index_t j) {
      const index_t row = i == 3 ? twin : i;
      return row == j ? 2.0 : j == (row + 1) % 40 ? 1.0 : 0.0;
    });
  };
  const auto a = made_of(7);
  const auto b = kit::times(a, ones(40));
  solver<double> kept(a, automatic(1e-8));
  for (int k = 0; k < 2; ++k) { // and of the next right-hand side, which begins with the method that answered
    host_array<double> x(40, 0.0);
    const auto report = kept.solve(as_cview(b), as_view(x));
    EXPECT_EQ(report.why, status::converged) << report.message;
    EXPECT_NE(report.solver, "direct");
    EXPECT_TRUE(mentions(report.warning, "singular")) << report.warning;
    EXPECT_TRUE(mentions(report.warning, "direct with lu")) << report.warning;
    EXPECT_TRUE(mentions(report.warning, "one of many")) << report.warning;
  }
  EXPECT_EQ(kit::solve_honestly(made_of(3), b, automatic(1e-8)).report.warning, "");
}

TEST(ladder, takes_least_squares_where_sides_differ) {
  for (const char* spec : {"rectangular:300:100:4", "rectangular:100:300:4"}) {
    const auto a = generate(spec).a;
    const host_array<double> zero(a.shape.cols, 0.0);
    const auto in_range = kit::solve_honestly(a, kit::times(a, ones(a.shape.cols)), automatic(), zero);
    EXPECT_EQ(in_range.report.why, status::converged) << spec << ": " << in_range.report.message;
    EXPECT_EQ(in_range.report.solver, "lsmr");
    const auto any = kit::solve_honestly(a, kit::random_vector<double>(a.shape.rows, 2), automatic(), zero);
    EXPECT_EQ(any.report.why, a.shape.rows > a.shape.cols ? status::least_squares : status::converged)
        << spec << ": " << any.report.message;
  }
}

TEST(ladder, can_be_cancelled_while_it_is_set_up) {
  for (int calls = 0; calls < 3; ++calls) {
    auto o = automatic();
    int left = calls;
    o.cancelled = [&] { return left-- == 0; };
    solver<double> kept(kit::laplacian(10), o);
    const auto b = ones(10);
    host_array<double> x(10, 0.0);
    EXPECT_EQ(kept.solve(as_cview(b), as_view(x)).why, status::interrupted) << calls;
  }
}

TEST(ladder, leaves_an_answer_on_trial_that_may_be_off) {
  const auto a = kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 1}, {1, 0, 2}, {1, 1, 2}});
  host_array<double> b(2, 1.0);
  b[1] = 2;
  const auto s = kit::solve_honestly(a, b, automatic());
  ASSERT_GE(s.report.rungs.size(), 2u);
  EXPECT_EQ(s.report.rungs[0].solver, "bicgstab");
  EXPECT_TRUE(mentions(s.report.rungs[0].outcome, "; the residual is small, but x may be off"))
      << s.report.rungs[0].outcome;
  EXPECT_EQ(s.report.rungs[1].solver, "direct");
  EXPECT_TRUE(mentions(s.report.warning, "singular to working precision")) << s.report.warning;
  EXPECT_EQ(s.report.why, status::converged);
  auto o = automatic();
  o.max_iterations = 1; // which it takes: nothing may follow
  const auto limited = kit::solve_honestly(a, b, o).report;
  EXPECT_EQ(limited.rungs.size(), 1u);
  EXPECT_EQ(limited.why, status::converged);
  EXPECT_TRUE(mentions(limited.warning, "x may be off")) << limited.warning;
}

TEST(ladder, stops_by_the_clock) {
  auto o = automatic();
  o.time_limit = 0;
  const auto s = kit::solve_honestly(kit::laplacian(40, 40), ones(1600), o);
  EXPECT_EQ(s.report.why, status::max_iterations);
  EXPECT_TRUE(mentions(s.report.message, "time")) << s.report.message;
  EXPECT_EQ(s.report.rungs.size(), 1u);
}

void sleep_for_milliseconds(int count) { std::this_thread::sleep_for(std::chrono::milliseconds(count)); }

TEST(ladder, counts_its_set_up_against_the_clock) {
  auto o = automatic();
  o.time_limit = 0.05;
  o.announce = [](const memory_estimate&) { sleep_for_milliseconds(60); };
  solver<double> kept(kit::laplacian(10, 10), o);
  const auto b = ones(100);
  host_array<double> x(100, 0.0);
  const auto first = kept.solve(as_cview(b), as_view(x));
  EXPECT_EQ(first.why, status::max_iterations);
  EXPECT_TRUE(mentions(first.message, "time")) << first.message;
  EXPECT_EQ(first.rungs.size(), 1u);
  o.time_limit = 1e3;
  kept.set_limits(o);
  EXPECT_EQ(kept.solve(as_cview(b), as_view(x)).why, status::converged);
}

/// Each sixteenth row of the factors takes a millisecond here, all of 6,400 rows 0.4 s.
TEST(ladder, hands_over_within_the_limit_on_the_time) {
  for (const char* method : {"auto", "bicgstab"}) {
    auto o = automatic();
    o.solver = method, o.precond = "ilu", o.time_limit = 0.1;
    int asked = 0;
    o.cancelled = [&] { return ++asked, sleep_for_milliseconds(1), false; };
    const auto a = generate("convection2d:80:20").a;
    const auto s = kit::solve_honestly(a, kit::times(a, ones(6400)), o);
    EXPECT_EQ(s.report.why, status::max_iterations) << method;
    EXPECT_TRUE(mentions(s.report.message, "time")) << method << ": " << s.report.message;
    EXPECT_LE(asked, 110) << method;
  }
}

TEST(ladder, takes_new_goals_and_limits) {
  const auto a = kit::laplacian(30, 30);
  const auto b = kit::random_vector<double>(900, 3);
  for (const precision values : {precision::f64, precision::f32}) {
    auto o = automatic(0.1);
    o.values = values;
    solver<double> kept(a, o);
    host_array<double> x(900, 0.0), again(900, 0.0);
    EXPECT_GT(kept.solve(as_cview(b), as_view(x)).relative_residual, 1e-3);
    o.rtol = 1e-5;
    kept.set_limits(o);
    EXPECT_LE(kept.solve(as_cview(b), as_view(again)).relative_residual, 1e-5);
  }
}

TEST(ladder, takes_a_method_that_can_have_the_named_preconditioner) {
  auto definite = generate("poisson2d:20").a, indefinite = definite;
  for (index_t k = 0; k < indefinite.nnz(); ++k)
    if (indefinite.row[k] == indefinite.col[k] && indefinite.row[k] % 3 == 0) indefinite.val[k] = -4;
  for (auto* a : {&definite, &indefinite})
    for (const char* precond : {"ilu", "ilut", "block_jacobi:2", "chebyshev"}) {
      solve_options o;
      o.precond = precond;
      const auto s = kit::solve_honestly<double>(*a, kit::random_vector<double>(400, 7), o);
      EXPECT_EQ(s.report.why, status::converged) << precond << ": " << s.report.message;
      EXPECT_EQ(s.report.precond, precond);
    }
}

TEST(ladder, ends_singular_systems_with_least_squares_by_a_named_preconditioner_too) {
  const auto a = kit::laplacian(30, 1, 1, true, 0); // pure Neumann: constants are mapped to zero
  auto b = kit::random_vector<double>(30, 7);
  for (double& v : b) v += 1;
  for (const char* precond : {"none", "jacobi"}) {
    solve_options o;
    o.precond = precond;
    const auto s = kit::solve_honestly<double>(a, b, o);
    EXPECT_EQ(s.report.why, status::least_squares) << precond << ": " << s.report.message;
    EXPECT_EQ(s.report.solver, "lsmr");
    EXPECT_EQ(s.report.precond, precond);
  }
}

} // namespace
} // namespace furrow
