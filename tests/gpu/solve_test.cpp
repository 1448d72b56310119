// SPDX-License-Identifier: BSD-3-Clause
#include "on_gpu.hpp"

#include "preconditioners/entry.hpp"
#include "solvers/entry.hpp"

#include "kit/guarded.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"
#include "kit/serves.hpp"
#include "kit/solve_check.hpp"

#include <furrow/formats.hpp>
#include <furrow/generate.hpp>

#include <algorithm>
#include <vector>

namespace furrow {
namespace {

template <class V> struct gpu_solve : on_gpu_in<V> {
  solve_options options(std::string precond, double rtol = sizeof(V) == 8 ? 1e-10 : 1e-4) const {
    return this->solving("cg", std::move(precond), rtol);
  }
};
TYPED_TEST_SUITE(gpu_solve, precisions);

TYPED_TEST(gpu_solve, converges_with_every_format_and_kernel) {
  using V = TypeParam;
  const auto a = kit::laplacian(40, 30, 5);
  const auto b = kit::random_vector<V>(a.shape.rows, 1);
  for (const format_entry* f : formats()) {
    if (!kit::serves(*f, a)) continue;
    for (const kernel_entry& k : f->gpu.kernels)
      for (const char* m : {"none", "jacobi"}) {
        SCOPED_TRACE(std::string(f->name) + ", " + std::string(k.name) + ", " + m);
        auto o = this->options(m);
        o.format = f->name;
        o.kernel = k.name;
        const auto first = kit::solve_honestly<V>(a, b, o);
        EXPECT_EQ(first.report.why, status::converged) << first.report.message;
        for (int repeat = 0; repeat < 5; ++repeat) {
          const auto again = kit::solve_honestly<V>(a, b, o);
          EXPECT_TRUE(kit::same_bits(as_cview(first.x), as_cview(again.x)));
          EXPECT_EQ(first.report.history, again.report.history);
        }
      }
  }
}

TYPED_TEST(gpu_solve, answers_by_every_solver_as_the_cpu_does) {
  using V = TypeParam;
  for (const solver_entry* entry : solver_entries()) {
    if (!entry->on_gpu || !entry->runner<V>()) continue;
    const bool symmetric = entry->needs.a.symmetric;
    const auto a = symmetric ? kit::laplacian(50, 40) : generate("convection2d:45:10").a;
    const auto b = kit::random_vector<V>(a.shape.rows, 2);
    for (const char* m : {"none", "jacobi"}) {
      SCOPED_TRACE(std::string(entry->name) + ", " + m);
      auto o = this->options(m, sizeof(V) == 8 ? 1e-10 : 1e-3);
      o.solver = entry->name;
      o.format = "csr"; // "auto" may choose otherwise on each
      const auto first = kit::solve_honestly<V>(a, b, o);
      const auto again = kit::solve_honestly<V>(a, b, o);
      EXPECT_TRUE(kit::same_bits(as_cview(first.x), as_cview(again.x)));
      o.where = {};
      if (!entry->on_cpu) o.solver = entry->name.substr(0, entry->name.rfind("_resident"));
      const auto here = kit::solve_honestly<V>(a, b, o);
      EXPECT_EQ(first.report.why, here.report.why) << first.report.message << "; " << here.report.message;
      const double allowed = sizeof(V) == 8 ? 0.15 : 1; // residuals that leap turn other rounding into other steps
      EXPECT_NEAR(double(first.report.iterations), double(here.report.iterations),
                  2 + allowed * double(here.report.iterations));
      if (!entry->needs.transposed && !entry->set_up) { // whose A' and what they keep is in a format of its own
        EXPECT_EQ(first.report.bytes_per_iteration, here.report.bytes_per_iteration);
      }
    }
  }
}

TYPED_TEST(gpu_solve, converges_with_every_preconditioner_as_the_cpu_does) {
  using V = TypeParam;
  for (const preconditioner_entry* m : preconditioner_entries())
    for (const char* solver : {"cg", "bicgstab", "gmres"}) {
      const bool symmetric = std::string(solver) == "cg", multigrid = m->name == "amg";
      const bool wants_symmetry = multigrid || m->name == "chebyshev";
      if (!m->on_gpu || (symmetric && !m->keeps.definite) || (!symmetric && wants_symmetry)) continue;
      SCOPED_TRACE(std::string(m->name) + ", " + solver);
      const auto a = symmetric ? kit::laplacian(50, 40) : generate("convection2d:45:10").a;
      const auto b = kit::random_vector<V>(a.shape.rows, 2);
      auto o = this->options(multigrid ? "amg:sa" : std::string(m->name), sizeof(V) == 8 ? 1e-10 : 1e-3);
      o.solver = solver;
      o.format = "csr";
      const auto first = kit::solve_honestly<V>(a, b, o);
      EXPECT_EQ(first.report.why, status::converged) << first.report.message;
      for (int repeat = 0; repeat < 5; ++repeat)
        EXPECT_TRUE(kit::same_bits(as_cview(first.x), as_cview(kit::solve_honestly<V>(a, b, o).x)));
      o.where = {};
      const auto here = kit::solve_honestly<V>(a, b, o);
      EXPECT_NEAR(double(first.report.iterations), double(here.report.iterations),
                  2 + 0.15 * double(here.report.iterations));
    }
}

TYPED_TEST(gpu_solve, takes_as_many_iterations_as_the_cpu) {
  using V = TypeParam;
  const auto a = kit::laplacian(50, 50);
  const auto b = kit::random_vector<V>(2500, 2);
  auto o = this->options("jacobi");
  o.format = "csr"; // "auto" may choose otherwise on each
  const auto there = kit::solve_honestly<V>(a, b, o);
  o.where = {};
  const auto here = kit::solve_honestly<V>(a, b, o);
  EXPECT_NEAR(double(there.report.iterations), double(here.report.iterations), 3);
  EXPECT_EQ(there.report.bytes_per_iteration, here.report.bytes_per_iteration);
}

TYPED_TEST(gpu_solve, stops_for_the_same_reasons_as_the_cpu) {
  using V = TypeParam;
  const host_array<V> ones(4, V(1));
  const auto reason = [&](const coo<double>& a, const host_array<V>& b, solve_options o) {
    return kit::solve_honestly<V>(a, b, o).report.why;
  };
  EXPECT_EQ(reason(kit::diagonal({1, 2, -3, 4}), ones, this->options("none")), status::not_positive_definite);
  EXPECT_EQ(reason(kit::diagonal({1, 2, -3, 4}), ones, this->options("jacobi")), status::not_positive_definite);
  EXPECT_EQ(reason(kit::assemble({4, 4}, {}), ones, this->options("none")), status::singular);
  EXPECT_EQ(reason(kit::diagonal({1, std::nan(""), 1, 1}), ones, this->options("none")), status::nan);
  const auto a = kit::laplacian(30, 30);
  const auto b = kit::random_vector<V>(900, 3);
  EXPECT_EQ(reason(a, b, this->options("jacobi", 1e-20)), status::stagnated);
  auto o = this->options("none");
  o.max_iterations = 5;
  EXPECT_EQ(reason(a, b, o), status::max_iterations);
  EXPECT_EQ(reason(kit::assemble({0, 0}, {}), {}, this->options("none")), status::converged);
}

TYPED_TEST(gpu_solve, warns_of_rows_that_add_up_to_zero) {
  using V = TypeParam;
  for (const double shift : {0.0, 0.01}) {
    const auto a = kit::laplacian(70, 60, 1, true, shift);
    const auto product = kit::times(a, kit::random_vector<double>(a.shape.rows, 5));
    host_array<V> b(product.size());
    std::ranges::transform(product, b.begin(), [](double v) { return V(v); });
    auto o = this->options("auto", 1e-4);
    o.solver = "auto";
    const auto report = kit::solve_honestly<V>(a, b, o).report;
    EXPECT_EQ(report.why, status::converged) << report.message;
    EXPECT_EQ(kit::mentions(report.warning, "adds up to zero"), shift == 0) << report.warning;
  }
}

TYPED_TEST(gpu_solve, waits_once_a_chunk) {
  using V = TypeParam;
  auto o = this->options("none", 1e-30);
  o.max_iterations = 2000;
  const auto s = kit::solve_honestly<V>(kit::laplacian(3000), kit::random_vector<V>(3000, 4), o);
  EXPECT_LT(s.report.waits, s.report.iterations / 10);
}

/// Every row of these factors needs the one before it: a GPU would take 16,000 levels.
TYPED_TEST(gpu_solve, leaves_factors_of_one_row_a_level_to_the_host) {
  using V = TypeParam;
  const index_t n = 8000;
  std::vector<kit::triplet> entries; // Grcar's matrix
  for (index_t i = 0; i < n; ++i)
    for (index_t j = std::max<index_t>(i - 1, 0); j < std::min(i + 4, n); ++j)
      entries.push_back({std::int32_t(i), std::int32_t(j), j < i ? -1.0 : 1.0});
  const auto a = kit::assemble({n, n}, entries);
  const auto b = kit::random_vector<V>(n, 5);
  for (const char* m : {"auto", "ilu"}) {
    const auto s = kit::solve_honestly<V>(a, b, this->solving("auto", m, sizeof(V) == 8 ? 1e-10 : 1e-4));
    EXPECT_EQ(s.report.why, status::converged) << m << ": " << s.report.message;
    bool met = false;
    for (const solve_rung& r : s.report.rungs) {
      if (!r.precond.starts_with("il")) continue;
      met = true;
      EXPECT_EQ(r.where.is_gpu(), std::string_view(m) != "auto") << m; // what was asked for stays
    }
    EXPECT_TRUE(met) << m;
  }
}

} // namespace
} // namespace furrow
