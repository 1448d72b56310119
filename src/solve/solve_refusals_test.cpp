// SPDX-License-Identifier: BSD-3-Clause
// What solve refuses, and what it says of itself.
#include "solve_test_kit.hpp"

#include <furrow/function_operator.hpp>
#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

namespace furrow {
namespace {

using namespace solve_test;

/// The fault and the words with which `solve` refuses.
std::pair<fault, std::string> refused(const coo<double>& a, const host_array<double>& b,
                                      const solve_options& o = with("jacobi")) {
  host_array<double> x(b.size(), 0.0);
  try {
    solve(a, as_cview(b), as_view(x), o);
  } catch (const error& e) {
    return {e.kind, e.what()};
  }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(refusal, an_unsymmetric_pattern_is_named) {
  const auto [kind, what] = refused(kit::assemble({3, 3}, {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}, {1, 2, 5}}), ones(3));
  EXPECT_EQ(kind, fault::input);
  EXPECT_TRUE(mentions(what, "A(2, 3) = 5 but A(3, 2) = 0")) << what;
}

TEST(refusal, unsymmetric_values_are_named) {
  const auto a = kit::assemble({3, 3}, {{0, 0, 9}, {1, 1, 9}, {2, 2, 9}, {0, 2, 1.5}, {2, 0, 1.25}});
  const auto [kind, what] = refused(a, ones(3));
  EXPECT_EQ(kind, fault::input);
  EXPECT_TRUE(mentions(what, "A(1, 3) = 1.5 but A(3, 1) = 1.25")) << what;
}

TEST(refusal, differences_that_mean_nothing_are_taken_on_demand) {
  const auto a = kit::assemble({2, 2}, {{0, 0, 9}, {0, 1, 1}, {1, 0, 1 + 1e-9}, {1, 1, 9}});
  EXPECT_EQ(refused(a, ones(2)).first, fault::input);
  auto o = with("jacobi", 1e-6);
  o.assume_symmetric = true;
  EXPECT_EQ(kit::solve_honestly(a, ones(2), o).report.why, status::converged);
}

TEST(refusal, of_a_preconditioner_takes_a_first_guess_that_is_an_answer) {
  const auto a = generate("convection2d:8:30").a;
  const auto b = kit::times(a, ones(64));
  for (const char* solver : {"auto", "bicgstab"})
    for (const char* precond : {"amg:grid", "lu:cholesky"}) {
      auto o = with(precond);
      o.solver = solver;
      const auto s = kit::solve_honestly(a, b, o, ones(64));
      EXPECT_EQ(s.report.why, status::converged) << solver << ", " << precond << ": " << s.report.message;
      EXPECT_EQ(s.report.iterations, 0);
      for (const double v : s.x) EXPECT_EQ(v, 1);
      EXPECT_NE(kit::solve_honestly(a, b, o).report.why, status::converged);
    }
}

TEST(refusal, sizes_that_do_not_fit) {
  EXPECT_EQ(refused(kit::assemble({3, 2}, {{0, 0, 1}}), ones(3)).first, fault::input);
  EXPECT_EQ(refused(kit::laplacian(3), ones(4)).first, fault::usage);
  host_array<double> b = ones(3), x(2);
  EXPECT_THROW(solve(kit::laplacian(3), as_cview(b), as_view(x), {}), error);
  EXPECT_THROW(solve(kit::laplacian(3), as_cview(b), as_view(b), {}), error);
}

TEST(refusal, an_operator_of_doubles_has_no_values_to_round) {
  const function_operator<double> wide({3, 3},
                                       [](cview<double> x, view<double> y) { std::ranges::copy(x, y.begin()); });
  const function_operator<float> single({3, 3}, [](cview<float> x, view<float> y) { std::ranges::copy(x, y.begin()); });
  solve_options o = with("none", 1e-5);
  o.solver = "cg";
  o.values = precision::f32;
  try {
    const solver<double> none(wide, nullptr, o);
    ADD_FAILURE() << "solved in doubles";
  } catch (const error& e) {
    EXPECT_EQ(e.kind, fault::usage);
    EXPECT_TRUE(mentions(e.what(), "leave values = f32 out")) << e.what();
  }
  solver<float> fits(single, nullptr, o);
  const host_array<float> b(3, 1.0F);
  host_array<float> x(3, 0.0F);
  EXPECT_EQ(fits.solve(as_cview(b), as_view(x)).why, status::converged);
}

TEST(refusal, options_that_make_no_sense) {
  for (const double bad : {-1.0, nan, inf}) {
    solve_options o = with("jacobi");
    o.rtol = bad;
    EXPECT_EQ(refused(kit::laplacian(3), ones(3), o).first, fault::usage);
    o = {};
    o.atol = bad;
    EXPECT_EQ(refused(kit::laplacian(3), ones(3), o).first, fault::usage);
  }
  solve_options o = with("jacobi");
  o.rtol = 0;
  EXPECT_EQ(refused(kit::laplacian(3), ones(3), o).first, fault::usage);
  for (const double one : {1.0, 2.0}) {
    o.rtol = one;
    EXPECT_EQ(refused(kit::laplacian(3), ones(3), o).first, fault::usage);
  }
  for (const auto& [bad, text] : {std::pair(nan, "nan"), std::pair(-1.0, "-1")}) { // nothing exceeds a nan
    o = {};
    o.time_limit = bad;
    EXPECT_EQ(refused(kit::laplacian(3), ones(3), o).second,
              std::string("time_limit = ") + text + " is no number of seconds");
    const std::string products = std::string("expected_products = ") + text + " is no number of products";
    o = {};
    o.expected_products = bad;
    EXPECT_EQ(refused(kit::laplacian(3), ones(3), o).second, products);
    kit::expect_refusal(fault::usage, products, [&] { matrix<double>(kit::laplacian(3), {.expected_products = bad}); });
  }
  o = {};
  o.max_iterations = -1;
  EXPECT_EQ(refused(kit::laplacian(3), ones(3), o).first, fault::usage);
}

TEST(refusal, unknown_names_come_with_those_that_exist) {
  solve_options o = with("jacobi");
  o.solver = "cgg";
  auto [kind, what] = refused(kit::laplacian(3), ones(3), o);
  EXPECT_EQ(kind, fault::usage);
  EXPECT_TRUE(mentions(what, "choose one of auto, ") && mentions(what, "cg")) << what;
  o = {};
  o.precond = "nothing";
  std::tie(kind, what) = refused(kit::laplacian(3), ones(3), o);
  EXPECT_EQ(kind, fault::usage);
  EXPECT_TRUE(mentions(what, "none") && mentions(what, "jacobi")) << what;
  o = {};
  o.format = "cssr";
  std::tie(kind, what) = refused(kit::laplacian(3), ones(3), o);
  EXPECT_EQ(kind, fault::usage);
  EXPECT_TRUE(mentions(what, "csr")) << what;
}

TEST(refusal, a_gpu_that_is_not_there) {
  if (!inspect_gpus().gpus.empty()) GTEST_SKIP() << "this machine has a GPU";
  solve_options o = with("jacobi");
  o.where = {device::kind::gpu, 0};
  EXPECT_EQ(refused(kit::laplacian(3), ones(3), o).first, fault::device);
  o.format = "csr";
  EXPECT_EQ(refused(kit::laplacian(3), ones(3), o).first, fault::device);
}

TEST(report, says_what_ran_and_what_it_took) {
  const auto a = kit::laplacian(30, 30);
  auto o = with("jacobi");
  o.format = "csr";
  const auto s = kit::solve_honestly(a, ones(900), o);
  EXPECT_EQ(s.report.format, "csr");
  EXPECT_FALSE(s.report.kernel.empty());
  EXPECT_EQ(s.report.reason, "asked for");
  EXPECT_GT(s.report.waits, 0);
  EXPECT_GT(s.report.bytes_per_iteration, 12.0 * double(a.nnz()));
  // The matrix, the diagonal, and b, x, r, p, q, the best x, and z, which another preconditioner would take.
  EXPECT_EQ(s.report.stored_bytes, 12.0 * double(a.nnz()) + 4.0 * 901 + 8.0 * 900 * 8);
  EXPECT_GE(s.report.setup_seconds, 0);
  EXPECT_GE(s.report.solve_seconds, 0);
}

TEST(memory, the_estimate_covers_what_is_stored) {
  const auto a = kit::laplacian(30, 30);
  const auto s = kit::solve_honestly(a, ones(900), with("jacobi"));
  const auto e = estimate_solve_memory(measure(a), precision::f64, with("jacobi"));
  EXPECT_GE(e.host, s.report.stored_bytes);
  EXPECT_LE(e.host, 3 * s.report.stored_bytes);
  EXPECT_EQ(e.gpu, 0);
}

} // namespace
} // namespace furrow
