// SPDX-License-Identifier: BSD-3-Clause
// Every reason why a solve stops, each provoked; what is refused; edges of sizes and magnitudes.
#include "kit/guarded.hpp"
#include "kit/random.hpp"
#include "kit/solve_check.hpp"

#include <furrow/error.hpp>

#include <limits>
#include <numeric>

namespace furrow {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

solve_options with(std::string precond, double rtol = 1e-10) {
  solve_options o;
  o.precond = std::move(precond);
  o.rtol = rtol;
  return o;
}

host_array<double> ones(index_t n) { return host_array<double>(n, 1.0); }

/// The fault and the words with which `solve` refuses.
std::pair<fault, std::string> refused(const coo<double>& a, const host_array<double>& b, const solve_options& o = {}) {
  host_array<double> x(b.size(), 0.0);
  try {
    solve(a, as_cview(b), as_view(x), o);
  } catch (const error& e) {
    return {e.kind, e.what()};
  }
  ADD_FAILURE() << "accepted";
  return {};
}

bool mentions(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(reason, names_are_those_of_the_command_line) {
  EXPECT_EQ(name(status::converged), "converged");
  EXPECT_EQ(name(status::max_iterations), "max_iterations");
  EXPECT_EQ(name(status::not_positive_definite), "not_positive_definite");
  EXPECT_EQ(name(status::breakdown), "breakdown");
  EXPECT_EQ(name(status::nan), "nan");
  EXPECT_EQ(name(status::stagnated), "stagnated");
  EXPECT_EQ(name(status::diverged), "diverged");
  EXPECT_EQ(name(status::interrupted), "interrupted");
}

TEST(reason, max_iterations) {
  auto o = with("none");
  o.max_iterations = 7;
  const auto s = kit::solve_honestly(kit::laplacian(40, 40), ones(1600), o);
  EXPECT_EQ(s.report.why, status::max_iterations);
  EXPECT_EQ(s.report.iterations, 7);
  EXPECT_EQ(s.report.restarts, 0);
  EXPECT_TRUE(mentions(s.report.message, "7")) << s.report.message;
  EXPECT_LT(s.report.relative_residual, 1e3);
}

TEST(reason, max_iterations_also_after_many_without_progress) {
  // A limit that falls into a phase in which the residual grows is still the limit, not stagnation.
  auto o = with("none", 1e-300);
  for (const index_t limit : {1, 2, 3, 5, 100, 3000}) {
    o.max_iterations = limit;
    const auto s = kit::solve_honestly(kit::laplacian(300), kit::random_vector<double>(300, 3), o);
    if (s.report.why == status::stagnated) {
      EXPECT_LT(s.report.iterations, limit);
    } else {
      EXPECT_EQ(s.report.why, status::max_iterations) << s.report.message;
      EXPECT_EQ(s.report.iterations, limit);
    }
  }
}

TEST(reason, not_positive_definite_by_an_indefinite_matrix) {
  for (const char* m : {"none", "jacobi"}) {
    const auto a = kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}}); // eigenvalues 3 and -1
    const auto s = kit::solve_honestly(a, host_array<double>{1, -1}, with(m));
    EXPECT_EQ(s.report.why, status::not_positive_definite) << m << ": " << s.report.message;
    EXPECT_TRUE(mentions(s.report.message, "-")) << s.report.message;
  }
}

TEST(reason, not_positive_definite_by_a_shifted_laplacian) {
  auto a = kit::laplacian(30, 30);
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == a.col[k]) a.val[k] -= 0.5; // lambda_min is about 0.02
  for (const char* m : {"none", "jacobi"}) {
    const auto s = kit::solve_honestly(a, kit::random_vector<double>(900, 5), with(m));
    EXPECT_EQ(s.report.why, status::not_positive_definite) << m << ": " << s.report.message;
  }
}

TEST(reason, not_positive_definite_by_the_diagonal) {
  const auto a = kit::diagonal({1, 2, -3, 4});
  const auto jacobi = kit::solve_honestly(a, ones(4), with("jacobi"));
  EXPECT_EQ(jacobi.report.why, status::not_positive_definite);
  EXPECT_TRUE(mentions(jacobi.report.message, "diagonal entry 3 is -3")) << jacobi.report.message;
  EXPECT_EQ(kit::solve_honestly(a, ones(4), with("none")).report.why, status::not_positive_definite);
  EXPECT_EQ(kit::solve_honestly(kit::diagonal({-1}), ones(1), with("none")).report.why, status::not_positive_definite);
}

TEST(reason, not_positive_definite_by_an_absent_diagonal) {
  const auto a = kit::assemble({2, 2}, {{0, 1, 1}, {1, 0, 1}});
  EXPECT_EQ(kit::solve_honestly(a, host_array<double>{1, 2}, with("jacobi")).report.why, status::not_positive_definite);
}

TEST(reason, breakdown_of_a_singular_inconsistent_system) {
  const auto s = kit::solve_honestly(kit::diagonal({1, 2, 0}), host_array<double>{0, 0, 1}, with("none"));
  EXPECT_EQ(s.report.why, status::breakdown) << s.report.message;
  EXPECT_EQ(s.report.relative_residual, 1);
  // Where rounding leaves p'Ap a little above 0, the step along the null space is a huge one.
  const auto mixed = kit::solve_honestly(kit::diagonal({1, 2, 0}), ones(3), with("none"));
  EXPECT_TRUE(mixed.report.why == status::breakdown || mixed.report.why == status::diverged) << mixed.report.message;
}

TEST(reason, breakdown_of_the_zero_matrix) {
  for (const auto& a : {kit::assemble({3, 3}, {}), kit::diagonal({0, 0, 0})}) {
    const auto s = kit::solve_honestly(a, ones(3), with("none"));
    EXPECT_EQ(s.report.why, status::breakdown) << s.report.message;
    EXPECT_EQ(s.report.relative_residual, 1);
    for (const double v : s.x) EXPECT_EQ(v, 0);
  }
}

TEST(reason, a_singular_matrix_never_converges_on_an_inconsistent_side) {
  // The Laplacian without a boundary: constants are its null space, and b has a part in it.
  const auto a = kit::laplacian(20, 20, 1, true, 0);
  auto b = kit::random_vector<double>(400, 7);
  for (double& v : b) v += 1;
  for (const char* m : {"none", "jacobi"}) {
    const auto s = kit::solve_honestly(a, b, with(m));
    EXPECT_NE(s.report.why, status::converged) << s.report.message;
    EXPECT_NE(s.report.why, status::nan) << s.report.message;
    EXPECT_LE(s.report.iterations, 100000);
  }
}

TEST(reason, a_singular_matrix_converges_on_a_consistent_side) {
  const auto a = kit::laplacian(20, 20, 1, true, 0);
  const auto b = kit::times(a, kit::random_vector<double>(400, 8));
  const auto s = kit::solve_honestly(a, b, with("none"));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
}

TEST(reason, nan_in_what_is_given) {
  for (const double bad : {nan, inf, -inf}) {
    auto a = kit::laplacian(10);
    a.val[3] = bad;
    EXPECT_EQ(kit::solve_honestly(a, ones(10)).report.why, status::nan);
    auto b = ones(10);
    b[9] = bad;
    const auto by_b = kit::solve_honestly(kit::laplacian(10), b);
    EXPECT_EQ(by_b.report.why, status::nan);
    EXPECT_TRUE(mentions(by_b.report.message, "element 10 of b")) << by_b.report.message;
    auto x = ones(10);
    x[2] = bad;
    const auto by_x = kit::solve_honestly(kit::laplacian(10), ones(10), {}, x);
    EXPECT_EQ(by_x.report.why, status::nan);
    EXPECT_TRUE(mentions(by_x.report.message, "element 3 of the first guess")) << by_x.report.message;
  }
}

TEST(reason, nan_says_nothing_about_the_residual) {
  auto a = kit::laplacian(10);
  a.val[3] = nan;
  const auto s = kit::solve_honestly(a, ones(10));
  EXPECT_FALSE(s.report.relative_residual == 0) << "0 would be a lie";
}

TEST(reason, nan_by_overflow) {
  const auto a = kit::diagonal({1e300, 1e300});
  const auto s = kit::solve_honestly(a, ones(2), with("none"), host_array<double>{1e300, 1e300});
  EXPECT_EQ(s.report.why, status::nan) << s.report.message;
  const auto f = kit::solve_honestly<float>(kit::diagonal({1e38, 3e38}), host_array<float>{1, 1}, with("none", 1e-5),
                                            host_array<float>{1e10f, 1e10f});
  EXPECT_EQ(f.report.why, status::nan) << f.report.message;
}

TEST(reason, stagnated) {
  for (const char* m : {"none", "jacobi"}) {
    const auto s = kit::solve_honestly(kit::laplacian(20, 20), kit::random_vector<double>(400, 9), with(m, 1e-20));
    EXPECT_EQ(s.report.why, status::stagnated) << s.report.message;
    EXPECT_LE(s.report.relative_residual, 1e-14);
    EXPECT_GT(s.report.restarts, 0);
  }
  const auto f =
      kit::solve_honestly<float>(kit::laplacian(20, 20), kit::random_vector<float>(400, 9), with("none", 1e-9));
  EXPECT_EQ(f.report.why, status::stagnated) << f.report.message;
  EXPECT_TRUE(mentions(f.report.message, "f64")) << f.report.message;
}

TEST(reason, diverged) {
  // One step along b overshoots the large eigenvalue: the residual grows by half the root of 1e42.
  const auto s = kit::solve_honestly(kit::diagonal({1, 1e42}), host_array<double>{1, 1e-21}, with("none"));
  EXPECT_EQ(s.report.why, status::diverged) << s.report.message;
  EXPECT_EQ(s.report.iterations, 1);
}

TEST(reason, interrupted) {
  auto o = with("none", 1e-30);
  o.max_iterations = 1000000;
  int calls = 0;
  index_t last = 0;
  o.watch = [&](const progress& p) {
    EXPECT_GT(p.iteration, last);
    EXPECT_GE(p.relative_residual, 0);
    EXPECT_GE(p.seconds, 0);
    last = p.iteration;
    return ++calls < 3;
  };
  const auto s = kit::solve_honestly(kit::laplacian(200, 200), ones(40000), o);
  EXPECT_EQ(s.report.why, status::interrupted) << s.report.message;
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(s.report.iterations, last);
  EXPECT_GT(s.x[20000], 0) << "the best x so far was not handed back";
}

TEST(edge, a_zero_right_hand_side_has_the_answer_zero) {
  const auto s = kit::solve_honestly(kit::laplacian(10), host_array<double>(10, 0.0), {}, ones(10));
  EXPECT_EQ(s.report.why, status::converged);
  EXPECT_EQ(s.report.iterations, 0);
  EXPECT_EQ(s.report.relative_residual, 0);
  for (const double v : s.x) EXPECT_EQ(v, 0);
}

TEST(edge, an_exact_first_guess_takes_no_iteration) {
  const auto a = kit::laplacian(10, 10);
  const auto s = kit::solve_honestly(a, kit::times(a, ones(100)), {}, ones(100));
  EXPECT_EQ(s.report.why, status::converged);
  EXPECT_EQ(s.report.iterations, 0);
  EXPECT_EQ(s.report.history.size(), 1u);
}

TEST(edge, a_good_first_guess_saves_iterations) {
  const auto a = kit::laplacian(30, 30);
  const auto b = kit::random_vector<double>(900, 4);
  const auto cold = kit::solve_honestly(a, b, with("jacobi", 1e-8));
  const auto warm = kit::solve_honestly(a, b, with("jacobi", 1e-10), cold.x);
  EXPECT_EQ(warm.report.why, status::converged);
  EXPECT_LT(warm.report.iterations, cold.report.iterations);
}

TEST(edge, one_by_one_and_nothing_at_all) {
  const auto one = kit::solve_honestly(kit::diagonal({4}), host_array<double>{8});
  EXPECT_EQ(one.report.why, status::converged);
  EXPECT_EQ(one.x[0], 2);
  const auto none = kit::solve_honestly(kit::assemble({0, 0}, {}), host_array<double>{});
  EXPECT_EQ(none.report.why, status::converged);
}

TEST(edge, magnitudes_of_b) {
  const auto a = kit::laplacian(15, 15);
  for (const double size : {1e200, 1e-200, 1e-300, 1e-307, 5e-324, 1.0}) {
    auto b = kit::random_vector<double>(225, 6);
    for (double& v : b) v *= size;
    const auto s = kit::solve_honestly(a, b, with("jacobi"));
    if (size < 1e-300) { // what the answer loses as a subnormal number shows in its residual, and is said
      EXPECT_TRUE(s.report.why == status::stagnated || s.report.why == status::converged) << s.report.message;
      EXPECT_LE(s.report.relative_residual, size < 1e-320 ? 10 : 1e-10) << size;
      continue;
    }
    EXPECT_EQ(s.report.why, status::converged) << size << ": " << s.report.message;
  }
  for (const float size : {1e30f, 1e-30f}) {
    auto b = kit::random_vector<float>(225, 6);
    for (float& v : b) v *= size;
    const auto s = kit::solve_honestly<float>(a, b, with("jacobi", 1e-5));
    EXPECT_EQ(s.report.why, status::converged) << size << ": " << s.report.message;
  }
}

TEST(edge, an_answer_beyond_the_range_is_no_answer) {
  const auto large = kit::solve_honestly(kit::diagonal({1e-20, 1e-20}), host_array<double>{1e300, 1e300}, with("none"));
  EXPECT_EQ(large.report.why, status::nan) << large.report.message;
  const auto small = kit::solve_honestly(kit::diagonal({1e20, 1e20}), host_array<double>{1e-310, 1e-310}, with("none"));
  EXPECT_EQ(small.report.why, status::stagnated) << small.report.message;
  EXPECT_NEAR(small.report.relative_residual, 1, 1e-12);
}

TEST(edge, atol_means_what_it_says_for_a_right_hand_side_that_is_scaled) {
  const auto a = kit::laplacian(15, 15);
  for (const double size : {1e150, 1e-150, 1.0}) {
    auto b = kit::random_vector<double>(225, 6);
    for (double& v : b) v *= size;
    solve_options o;
    o.rtol = 0;
    o.atol = 1e-6 * size;
    const auto s = kit::solve_honestly(a, b, o);
    EXPECT_EQ(s.report.why, status::converged) << size << ": " << s.report.message;
    EXPECT_GT(s.report.iterations, 5) << size;
    EXPECT_LT(s.report.iterations, 100) << size;
  }
}

TEST(edge, history_can_be_left_out) {
  auto o = with("jacobi");
  o.history = false;
  EXPECT_TRUE(kit::solve_honestly(kit::laplacian(30), ones(30), o).report.history.empty());
}

TEST(edge, history_is_longer_than_the_ring_beside_the_vectors) {
  auto o = with("none", 1e-12);
  o.max_iterations = 100000;
  const auto s = kit::solve_honestly(kit::laplacian(6000), kit::random_vector<double>(6000, 2), o);
  EXPECT_GT(s.report.iterations, 5000);
  for (const double h : s.report.history) ASSERT_TRUE(std::isfinite(h) && h >= 0);
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

TEST(refusal, sizes_that_do_not_fit) {
  EXPECT_EQ(refused(kit::assemble({3, 2}, {{0, 0, 1}}), ones(3)).first, fault::input);
  EXPECT_EQ(refused(kit::laplacian(3), ones(4)).first, fault::usage);
  host_array<double> b = ones(3), x(2);
  EXPECT_THROW(solve(kit::laplacian(3), as_cview(b), as_view(x), {}), error);
  EXPECT_THROW(solve(kit::laplacian(3), as_cview(b), as_view(b), {}), error);
}

TEST(refusal, options_that_make_no_sense) {
  for (const double bad : {-1.0, nan, inf}) {
    solve_options o;
    o.rtol = bad;
    EXPECT_EQ(refused(kit::laplacian(3), ones(3), o).first, fault::usage);
    o = {};
    o.atol = bad;
    EXPECT_EQ(refused(kit::laplacian(3), ones(3), o).first, fault::usage);
  }
  solve_options o;
  o.rtol = 0;
  EXPECT_EQ(refused(kit::laplacian(3), ones(3), o).first, fault::usage);
  o = {};
  o.max_iterations = -1;
  EXPECT_EQ(refused(kit::laplacian(3), ones(3), o).first, fault::usage);
}

TEST(refusal, unknown_names_come_with_those_that_exist) {
  solve_options o;
  o.solver = "cgg";
  auto [kind, what] = refused(kit::laplacian(3), ones(3), o);
  EXPECT_EQ(kind, fault::usage);
  EXPECT_TRUE(mentions(what, "cg")) << what;
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
  solve_options o;
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
  // The matrix, the diagonal, and b, x, r, p, q.
  EXPECT_EQ(s.report.stored_bytes, 12.0 * double(a.nnz()) + 4.0 * 901 + 8.0 * 900 * 6);
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
