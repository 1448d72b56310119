// SPDX-License-Identifier: BSD-3-Clause
// Scaling and order by name on a GPU: docs/preconditioners.md#scaling-and-order-by-name.
#include "on_gpu.hpp"

#include "kit/guarded.hpp"
#include "kit/random.hpp"
#include "kit/solve_check.hpp"

#include <furrow/assemble.hpp>
#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <cmath>

namespace furrow {
namespace {

struct gpu_arranging : on_gpu_in<double> {
  solve_options options(std::string solver, std::string precond, std::string scale, std::string reorder) const {
    auto o = solving(std::move(solver), std::move(precond));
    o.scale = std::move(scale), o.reorder = std::move(reorder);
    o.max_iterations = 3000;
    return o;
  }
};

/// Rows scaled by 10^-2 to 10^2 and shifted by a third of them.
coo<double> hidden(const coo<double>& a) {
  host_array<std::int32_t> row(a.nnz());
  host_array<double> val(a.nnz());
  for (index_t k = 0; k < a.nnz(); ++k) {
    row[k] = static_cast<std::int32_t>((a.row[k] + a.shape.rows / 3) % a.shape.rows);
    val[k] = a.val[k] * std::pow(10.0, double(a.row[k] % 5 - 2));
  }
  return assemble(a.shape, as_cview(row), as_cview(a.col), as_cview(val));
}

TEST_F(gpu_arranging, gives_the_answers_of_the_cpu) {
  const auto convection = hidden(generate("convection2d:40:10").a);
  struct one {
    const char *solver, *precond, *scale, *reorder;
  };
  for (const one& c : {one{"gmres:50", "jacobi", "matching", "rcm"}, one{"gmres:50", "ilut", "matching", "none"},
                       one{"bicgstab", "ilu:0:natural", "matching", "rcm"}, one{"cg", "none", "symmetric", "none"},
                       one{"cg", "ic0", "symmetric", "rcm"}, one{"minres", "jacobi", "symmetric", "rcm"},
                       one{"auto", "auto", "matching", "rcm"}}) {
    SCOPED_TRACE(std::string(c.solver) + ", " + c.precond + ", " + c.scale + ", " + c.reorder);
    const auto a = c.scale == std::string("symmetric") ? generate("poisson2d:40").a : convection;
    const auto expected = kit::random_vector<double>(a.shape.cols, 3);
    const auto b = kit::times(a, expected);
    auto o = options(c.solver, c.precond, c.scale, c.reorder);
    const auto there = kit::solve_honestly<double>(a, b, o), again = kit::solve_honestly<double>(a, b, o);
    ASSERT_EQ(there.report.why, status::converged) << there.report.message;
    EXPECT_TRUE(kit::same_bits(as_cview(there.x), as_cview(again.x)));
    EXPECT_FALSE(there.report.arranged_about.empty());
    o.where = {};
    const auto here = kit::solve_honestly<double>(a, b, o).report;
    if (o.solver == "auto") continue; // another rung, perhaps
    EXPECT_NEAR(double(there.report.iterations), double(here.iterations), 5 + 0.2 * double(here.iterations));
  }
}

TEST_F(gpu_arranging, takes_vectors_where_they_lie) {
  const auto a = hidden(generate("convection2d:40:10").a);
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  for (const auto* const reorder : {"none", "rcm"}) {
    solver<double> kept(coo<double>(a), options("gmres:50", "ilut", "matching", reorder));
    host_array<double> x(b.size(), 0.0);
    EXPECT_EQ(kept.solve(as_cview(b), as_view(x)).why, status::converged);
    const gpu_array<double> there_b(b);
    gpu_array<double> there_x(host_array<double>(b.size(), 0.0));
    EXPECT_EQ(kept.solve(as_cview(there_b), as_view(there_x)).why, status::converged);
    EXPECT_TRUE(kit::same_bits(as_cview(x), as_cview(host_array<double>(there_x))));
  }
}

} // namespace
} // namespace furrow
