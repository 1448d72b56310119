// SPDX-License-Identifier: BSD-3-Clause
// Single precision inside, double outside, on the GPU: docs/refine.md.
#include "on_gpu.hpp"

#include "kit/guarded.hpp"
#include "kit/random.hpp"
#include "kit/solve_check.hpp"

#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <cmath>

namespace furrow {
namespace {

struct gpu_refine : on_gpu_in<double> {
  solve_options options(std::string solver, std::string precond, double rtol = 1e-12) const {
    return solving(std::move(solver), std::move(precond), rtol);
  }
};

TEST_F(gpu_refine, reaches_the_accuracy_of_doubles_as_on_the_cpu) {
  struct one {
    const char *matrix, *solver, *precond;
  };
  for (const one& c : {one{"poisson2d:60", "refine", "jacobi"}, one{"poisson2d:60", "refine:cg", "amg:sa"},
                       one{"poisson2d:60", "refine:minres", "none"}, one{"convection2d:50:10", "refine", "none"},
                       one{"convection2d:50:10", "refine:gmres:30", "ilu"}}) {
    SCOPED_TRACE(std::string(c.matrix) + ", " + c.solver + ", " + c.precond);
    const auto a = generate(c.matrix).a;
    const auto expected = kit::random_vector<double>(a.shape.cols, 3);
    const auto b = kit::times(a, expected);
    auto o = options(c.solver, c.precond);
    const auto there = kit::solve_honestly<double>(a, b, o), again = kit::solve_honestly<double>(a, b, o);
    ASSERT_EQ(there.report.why, status::converged) << there.report.message;
    EXPECT_TRUE(kit::same_bits(as_cview(there.x), as_cview(again.x)));
    for (index_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(there.x[i], expected[i], 1e-8);
    o.where = {};
    const auto here = kit::solve_honestly<double>(a, b, o).report;
    EXPECT_NEAR(double(there.report.iterations), double(here.iterations), 1);
    EXPECT_NEAR(double(there.report.inner_iterations), double(here.inner_iterations),
                5 + 0.25 * double(here.inner_iterations)); // rounding moves it
  }
}

TEST_F(gpu_refine, keeps_its_set_up_and_takes_vectors_where_they_lie) {
  const auto a = generate("poisson3d:20").a;
  solver<double> kept(coo<double>(a), options("refine", "jacobi", 1e-10));
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  host_array<double> x(b.size(), 0.0);
  EXPECT_EQ(kept.solve(as_cview(b), as_view(x)).why, status::converged);
  const gpu_array<double> there_b(b);
  gpu_array<double> there_x(host_array<double>(b.size(), 0.0));
  const auto second = kept.solve(as_cview(there_b), as_view(there_x));
  EXPECT_EQ(second.why, status::converged) << second.message;
  EXPECT_EQ(second.setup_seconds, 0);
  EXPECT_TRUE(kit::same_bits(as_cview(x), as_cview(host_array<double>(there_x))));
}

TEST_F(gpu_refine, says_where_single_precision_does_not_suffice) {
  const auto beam = kit::from_function(300, [](index_t i, index_t j) {
    const index_t off = std::abs(i - j);
    return off == 0 ? 6.0 : off == 1 ? -4.0 : off == 2 ? 1.0 : 0.0;
  });
  const auto b = kit::times(beam, kit::random_vector<double>(300, 4));
  for (const char* solver : {"refine", "refine:gmres:50"}) {
    const auto r = kit::solve_honestly<double>(beam, b, options(solver, "jacobi", 1e-10)).report;
    EXPECT_NE(r.why, status::converged) << solver;
    EXPECT_NE(r.message.find("single precision"), std::string::npos) << r.message;
  }
}

} // namespace
} // namespace furrow
