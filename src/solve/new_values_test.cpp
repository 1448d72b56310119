// SPDX-License-Identifier: BSD-3-Clause
// A solver whose matrix gets other values.
#include "solve_test_kit.hpp"

#include "matrix/rows.hpp"

#include <furrow/function_operator.hpp>
#include <furrow/matrix.hpp>
#include <furrow/solver.hpp>

namespace furrow {
namespace {

using namespace solve_test;

template <class V> struct new_values : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(new_values, precisions);

/// D A D with D between 1 and 2.
template <class V> coo<V> scaled(coo<V> a) {
  const auto d = [](index_t i) { return V(1 + double(i * 7 % 11) / 10); };
  for (index_t k = 0; k < a.nnz(); ++k) a.val[k] *= d(a.row[k]) * d(a.col[k]);
  return a;
}

template <class V> void expect_answer(solver<V>& s, const coo<V>& a, const solve_options& o, const char* what) {
  const auto b = kit::random_vector<V>(a.shape.rows, 5);
  host_array<V> x(a.shape.rows, V(0));
  const auto report = s.solve(as_cview(b), as_view(x));
  EXPECT_EQ(report.why, status::converged) << what << ": " << report.message;
  EXPECT_GT(report.setup_seconds, 0) << what;
  EXPECT_FALSE(report.setup_parts.empty()) << what;
  const auto truth = kit::true_residual(a, as_cview(b), as_cview(x));
  EXPECT_LE(truth.norm, o.rtol * truth.norm_b * 1.01 + truth.rounding) << what;
}

TYPED_TEST(new_values, are_taken_by_every_method_and_preconditioner) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(30, 30)), b = scaled(a);
  for (const auto& [method, precond] : {std::pair{"cg", "jacobi"},
                                        {"cg", "ic0"},
                                        {"cg", "amg:sa"},
                                        {"cg", "amg:grid"},
                                        {"fcg", "amg:pairwise"},
                                        {"auto", "auto"},
                                        {"lsmr", "jacobi"},
                                        {"block_cg", "amg"},
                                        {"gmres:20", "ilu"}}) {
    const std::string what = std::string(method) + " with " + precond;
    auto o = with(precond, sizeof(V) == 8 ? 1e-8 : 1e-4);
    o.solver = method;
    solver<V> s(coo<V>(a), o);
    expect_answer(s, a, o, what.c_str());
    for (int step = 0; step < 3; ++step) {
      const coo<V>& now = step % 2 == 0 ? b : a;
      s.update_values(coo<V>(now));
      expect_answer(s, now, o, what.c_str());
    }
    s.update_values(matrix<V>(coo<V>(b)));
    expect_answer(s, b, o, what.c_str());
    const auto rows = to_rows(coo<V>(a));
    host_array<index_t> col(rows.col.size());
    std::ranges::copy(rows.col, col.begin());
    s.update_values(csr_arrays<V, index_t>{rows.shape, as_cview(rows.row_ptr), as_cview(col), as_cview(rows.val)});
    expect_answer(s, a, o, what.c_str());
  }
}

TEST(new_values_of, another_pattern_make_everything_anew) {
  for (const char* const precond : {"amg:sa", "amg:grid", "amg"}) {
    const auto o = with(precond);
    auto a = kit::laplacian(40, 30);
    solver<double> s(coo<double>(a), o);
    for (const bool turned : {false, false, true, true, false}) {
      const auto next = turned ? kit::laplacian(30, 40) : kit::laplacian(40, 30);
      s.update_values(coo<double>(next));
      expect_answer(s, next, o, precond);
    }
  }
}

TEST(new_values_of, a_bad_matrix_are_reported_and_good_ones_taken_again) {
  const auto good = kit::laplacian(40, 30);
  auto bad = good, unsymmetric = good;
  for (index_t k = 0; k < good.nnz(); ++k)
    if (good.row[k] == 7) bad.val[k] *= -1, unsymmetric.val[k] *= 2;
  for (index_t k = 0; k < good.nnz(); ++k)
    if (good.col[k] == 7 && good.row[k] != 7) bad.val[k] *= -1;
  for (const char* const precond : {"amg:sa", "amg:grid"}) {
    const auto o = with(precond);
    solver<double> s(coo<double>(good), o);
    const auto b = kit::random_vector<double>(1200, 2);
    host_array<double> x(1200, 0.0);
    const auto why = [&] { return s.solve(as_cview(b), as_view(x)).why; };
    s.update_values(coo<double>(bad));
    EXPECT_EQ(why(), status::not_positive_definite) << precond;
    s.update_values(coo<double>(good));
    expect_answer(s, good, o, precond);
    EXPECT_THROW(s.update_values(coo<double>(unsymmetric)), error);
    EXPECT_EQ(why(), status::interrupted) << precond; // neither the old matrix nor the new one
    host_array<double> many_x(2400, 0.0);
    host_array<double> many_b(2400, 1.0);
    for (const auto& r : s.solve(as_cview(many_b), as_view(many_x), 2)) EXPECT_EQ(r.why, status::interrupted);
    s.update_values(coo<double>(good));
    expect_answer(s, good, o, precond);
    EXPECT_THROW(s.update_values(kit::laplacian(7)), error);
    EXPECT_EQ(why(), status::converged) << precond; // refused before anything was given up
  }
}

TEST(new_values_of, operators_are_the_callers) {
  const auto a = find_format("csr").cpu.make<double>()(kit::laplacian(20), {}, "auto");
  solver<double> s(*a, nullptr, with("none"));
  EXPECT_THROW(s.update_values(kit::laplacian(20)), error);
}

TEST(new_values_of, a_solver_keep_its_limits) {
  solver<double> s(kit::laplacian(30, 30), with("jacobi"));
  auto o = with("jacobi");
  o.max_iterations = 3;
  s.set_limits(o);
  s.update_values(kit::laplacian(30, 30));
  const auto b = kit::random_vector<double>(900, 2);
  host_array<double> x(900, 0.0);
  const auto report = s.solve(as_cview(b), as_view(x));
  EXPECT_EQ(report.iterations, 3);
  EXPECT_EQ(report.setup_seconds, s.setup_seconds());
}

} // namespace
} // namespace furrow
