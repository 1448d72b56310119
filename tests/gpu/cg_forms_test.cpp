// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients from the tutorial's form to a graph, on the GPU.
#include "on_gpu.hpp"

#include "solvers/cg_tutorial/forms.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/solve_check.hpp"

#include <furrow/formats.hpp>
#include <furrow/generate.hpp>

#include <map>

namespace furrow {
namespace {

template <class V> struct gpu_cg_forms : on_gpu_in<V> {};
TYPED_TEST_SUITE(gpu_cg_forms, precisions);

TYPED_TEST(gpu_cg_forms, make_the_same_steps_and_wait_less_and_less) {
  using V = TypeParam;
  for (const char* spec : {"poisson1d:60", "poisson2d:50", "poisson3d:20"}) {
    const auto wide = generate(spec).a;
    const auto a = kit::as_precision<V>(wide);
    const auto s = measure(a);
    const auto op = make<V>(choose(s, precision_of<V>, this->gpu, {"csr"}), this->gpu, a);
    const gpu_array<V> b(kit::times<V>(wide, kit::random_vector<V>(a.shape.cols, 3)));
    solve_options o;
    o.rtol = sizeof(V) == 8 ? 1e-9 : 1e-3;
    struct outcome {
      solve_report report;
      host_array<V> x;
    };
    std::map<cg_form, outcome> all;
    const auto run = [&](cg_form f, index_t steps) {
      gpu_array<V> x(a.shape.cols, V(0));
      const auto report = run_cg_form<V>(f, *op, s, as_cview(b), as_view(x), o, steps);
      EXPECT_EQ(report.why, status::converged) << spec << ": " << report.message;
      all[f] = {report, host_array<V>(x)};
    };
    for (const cg_form f : {cg_form::tutorial, cg_form::fused, cg_form::beside}) run(f, 0);
    const index_t steps = all[cg_form::beside].report.iterations;
    run(cg_form::ahead, steps);
    if (obstacle(cg_form::graph, this->gpu).empty()) run(cg_form::graph, 0);
    EXPECT_NEAR(double(all[cg_form::tutorial].report.iterations), double(steps), 1) << spec;
    for (const auto& [f, one] : all) {
      if (f == cg_form::tutorial) continue;
      EXPECT_EQ(one.report.iterations, steps) << spec << ' ' << int(f);
      EXPECT_TRUE(kit::same_bits(as_cview(one.x), as_cview(all[cg_form::beside].x))) << spec << ' ' << int(f);
    }
    EXPECT_GE(all[cg_form::tutorial].report.waits, 3 * all[cg_form::tutorial].report.iterations);
    EXPECT_GE(all[cg_form::fused].report.waits, 3 * steps);
    EXPECT_GE(all[cg_form::beside].report.waits, steps);
    EXPECT_LT(all[cg_form::beside].report.waits, steps + 40);
    EXPECT_LT(all[cg_form::ahead].report.waits, 40);
  }
}

TYPED_TEST(gpu_cg_forms, a_host_that_runs_beyond_the_end_is_told) {
  using V = TypeParam;
  const auto wide = generate("poisson2d:30").a;
  const auto a = kit::as_precision<V>(wide);
  const auto s = measure(a);
  const auto op = make<V>(choose(s, precision_of<V>, this->gpu, {"csr"}), this->gpu, a);
  const gpu_array<V> b(kit::times<V>(wide, kit::random_vector<V>(a.shape.cols, 3)));
  gpu_array<V> x(a.shape.cols, V(0));
  solve_options o;
  o.rtol = 1e-30;
  o.max_iterations = 20; // in the middle of a chunk: they end after 15 and 31 steps
  try {
    run_cg_form<V>(cg_form::ahead, *op, s, as_cview(b), as_view(x), o, 4000);
    FAIL() << "nothing was thrown";
  } catch (const error& e) {
    EXPECT_EQ(e.kind, fault::usage);
    EXPECT_NE(std::string(e.what()).find("beyond the last one"), std::string::npos);
  }
}

} // namespace
} // namespace furrow
