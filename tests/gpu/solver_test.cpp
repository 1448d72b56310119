// SPDX-License-Identifier: BSD-3-Clause
// BiCGStab, solvers that stay and operators of the caller, on the GPU.
#include "on_gpu.hpp"

#include "kit/guarded.hpp"
#include "kit/random.hpp"
#include "kit/solve_check.hpp"

#include <furrow/formats.hpp>
#include <furrow/function_operator.hpp>
#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

namespace furrow {
namespace {

template <class V> struct gpu_solver : on_gpu_in<V> {
  solve_options options(std::string method, std::string precond, double rtol = sizeof(V) == 8 ? 1e-10 : 1e-4) const {
    return this->solving(std::move(method), std::move(precond), rtol);
  }
};
TYPED_TEST_SUITE(gpu_solver, precisions);

TYPED_TEST(gpu_solver, bicgstab_takes_as_many_steps_as_on_the_cpu) {
  using V = TypeParam;
  for (const char* spec : {"convection2d:60:1", "poisson2d:60"})
    for (const char* m : {"none", "jacobi"}) {
      const auto a = generate(spec).a;
      const auto b = kit::times<V>(a, host_array<V>(a.shape.rows, V(1)));
      auto o = this->options("bicgstab", m);
      o.format = "csr";
      const auto there = kit::solve_honestly<V>(a, b, o);
      EXPECT_EQ(there.report.why, status::converged) << spec << ": " << there.report.message;
      const auto again = kit::solve_honestly<V>(a, b, o);
      EXPECT_TRUE(kit::same_bits(as_cview(there.x), as_cview(again.x))) << spec;
      o.where = {};
      const auto here = kit::solve_honestly<V>(a, b, o);
      EXPECT_NEAR(double(there.report.iterations), double(here.report.iterations),
                  0.2 * double(here.report.iterations)) // rounding moves it
          << spec << ", " << m;
      EXPECT_EQ(there.report.bytes_per_iteration, here.report.bytes_per_iteration);
    }
}

TYPED_TEST(gpu_solver, ends_singular_systems_with_the_best_x) {
  using V = TypeParam;
  const auto a = kit::laplacian(20, 20, 1, true, 0);
  auto b = kit::random_vector<V>(400, 7);
  for (V& v : b) v += V(1);
  for (const char* m : {"none", "jacobi"}) {
    const auto s = kit::solve_honestly<V>(a, b, this->options("cg", m));
    EXPECT_EQ(s.report.why, status::singular) << s.report.message;
    EXPECT_LE(s.report.relative_residual, 1 + 1e-14);
  }
}

TYPED_TEST(gpu_solver, proves_what_it_says_beyond_rounding) {
  using V = TypeParam;
  const double tight = sizeof(V) == 8 ? 2e-17 : 1e-8;
  const auto a = kit::laplacian(3);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) { // each report is held to the truth
    const auto s = kit::solve_honestly<V>(a, kit::random_vector<V>(3, seed), this->options("cg", "none", tight));
    EXPECT_TRUE(s.report.why == status::stagnated || s.report.why == status::converged) << s.report.message;
  }
}

TYPED_TEST(gpu_solver, stays_for_many_right_hand_sides) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(40, 30));
  const auto o = this->options("cg", "jacobi");
  solver<V> kept(a, o);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto b = kit::random_vector<V>(1200, seed);
    host_array<V> x(1200, V(0)), y(1200, V(0));
    const auto report = kept.solve(as_cview(b), as_view(x));
    solve(a, as_cview(b), as_view(y), o);
    EXPECT_EQ(report.why, status::converged) << report.message;
    EXPECT_TRUE(kit::same_bits(as_cview(x), as_cview(y)));
  }
}

TYPED_TEST(gpu_solver, runs_an_operator_of_the_caller_inside_its_graph) {
  using V = TypeParam;
  const auto matrix = kit::as_precision<V>(kit::laplacian(25, 25));
  const stats s = measure(matrix);
  const auto inside = make<V>(choose(s, precision_of<V>, this->gpu, {"csr", "auto"}), this->gpu, matrix);
  const function_operator<V> own(
      {625, 625}, [&](cview<V> x, view<V> y) { inside->apply(V(1), x, V(0), y); }, this->gpu);
  EXPECT_NE(current_stream(this->gpu), nullptr);
  const auto b = kit::random_vector<V>(625, 5);
  for (const char* method : {"cg", "bicgstab"}) {
    host_array<V> x(625, V(0));
    const auto report =
        solver<V>(own, nullptr, this->options(method, "none"), {s.norm_inf, s.row_max}).solve(as_cview(b), as_view(x));
    EXPECT_EQ(report.why, status::converged) << report.message;
  }
  // Factors that are not 1 and 0.
  const gpu_array<V> x(b);
  gpu_array<V> y(host_array<V>(625, V(3))), z(host_array<V>(625, V(3)));
  own.apply(V(2), as_cview(x), V(-1), as_view(y));
  inside->apply(V(2), as_cview(x), V(-1), as_view(z));
  const host_array<V> got(y), expected(z);
  for (index_t i = 0; i < 625; ++i) ASSERT_NEAR(got[i], expected[i], 40 * std::numeric_limits<V>::epsilon()) << i;
}

TYPED_TEST(gpu_solver, lets_functions_wait_where_the_host_drives) {
  using V = TypeParam;
  const auto matrix = kit::as_precision<V>(kit::laplacian(25, 25));
  const stats s = measure(matrix);
  const auto inside = make<V>(choose(s, precision_of<V>, this->gpu, {"csr", "auto"}), this->gpu, matrix);
  index_t calls = 0;
  const auto through_the_host = [&](cview<V> x, view<V> y) { // as no graph could record it
    host_array<V> home(x.size);
    copy_bytes(host_memory{}, home.data(), gpu_memory{}, x.data, home.byte_count());
    const gpu_array<V> own(home);
    inside->apply(V(1), as_cview(own), V(0), y);
    ++calls;
  };
  const auto plain = [&](cview<V> x, view<V> y) { inside->apply(V(1), x, V(0), y); };
  const function_operator<V> waits({625, 625}, through_the_host, this->gpu), recorded({625, 625}, plain, this->gpu);
  const auto b = kit::random_vector<V>(625, 5);
  for (const char* method : {"cg", "bicgstab", "gmres:20"}) {
    const operator_facts facts{s.norm_inf, s.row_max};
    host_array<V> x(625, V(0)), expected(625, V(0));
    solver<V>(recorded, nullptr, this->options(method, "none"), facts).solve(as_cview(b), as_view(expected));
    const driven_by_host here(this->gpu);
    calls = 0;
    const auto report = solver<V>(waits, nullptr, this->options(method, "none"), facts).solve(as_cview(b), as_view(x));
    EXPECT_EQ(report.why, status::converged) << report.message;
    EXPECT_GE(calls, report.iterations) << method;
    EXPECT_TRUE(kit::same_bits(as_cview(x), as_cview(expected))) << method;
  }
}

TYPED_TEST(gpu_solver, shows_x_to_a_monitor) {
  using V = TypeParam;
  auto o = this->options("cg", "none");
  index_t calls = 0;
  o.monitor_every = 5;
  o.monitor = [&](const progress& p, cview<double> x) {
    EXPECT_EQ(p.iteration, 5 * ++calls);
    EXPECT_NE(x[100], 0);
    return calls < 3;
  };
  const auto s = kit::solve_honestly<V>(kit::laplacian(30, 30), kit::random_vector<V>(900, 2), o);
  EXPECT_EQ(s.report.why, status::interrupted);
  EXPECT_EQ(calls, 3);
}

TYPED_TEST(gpu_solver, copies_x_for_a_watcher_that_asks_alone) {
  using V = TypeParam;
  const auto a = kit::laplacian(30, 30);
  const auto b = kit::random_vector<V>(900, 2);
  const auto bytes_of = [&](const char* method, bool asks) {
    auto o = this->options(method, "none");
    index_t calls = 0;
    o.watch_every = 5;
    o.watch = [&](const progress& p) {
      if (!p.due) return true;
      EXPECT_EQ(p.iteration, 5 * ++calls);
      if (asks) {
        EXPECT_NE(p.x()[100], 0);
      }
      return calls < 3;
    };
    const std::int64_t before = copied_bytes(this->gpu);
    const auto s = kit::solve_honestly<V>(a, b, o);
    EXPECT_EQ(s.report.why, status::interrupted);
    EXPECT_EQ(calls, 3);
    return copied_bytes(this->gpu) - before;
  };
  for (const char* method : {"cg", "bicgstab", "gmres:4"}) {
    bytes_of(method, false); // what is loaded first takes time, and chunks of steps follow the clock
    EXPECT_EQ(bytes_of(method, true) - bytes_of(method, false), 3 * 900 * std::int64_t(sizeof(V))) << method;
  }
}

} // namespace
} // namespace furrow
