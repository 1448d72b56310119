// SPDX-License-Identifier: BSD-3-Clause
#include "forms.hpp"
#include "fused.hpp"

#include "kit/method_check.hpp"
#include "kit/said_by.hpp"

#include <furrow/error.hpp>

#include <map>

namespace furrow {
namespace {

template <class V> struct cg_forms_on_cpu : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(cg_forms_on_cpu, precisions);

template <class V> struct outcome {
  solve_report report;
  host_array<V> x;
};

template <class V> outcome<V> run(cg_form f, const coo<double>& wide, cview<V> b, double rtol) {
  const auto a = kit::as_precision<V>(wide);
  const auto op = make<V>(choose(measure(a), precision_of<V>, {}), {}, a);
  solve_options o;
  o.rtol = rtol;
  outcome<V> all{{}, host_array<V>(a.shape.cols, V(0))};
  all.report = run_cg_form<V>(f, *op, measure(a), b, as_view(all.x), o, 0);
  return all;
}

TYPED_TEST(cg_forms_on_cpu, make_the_same_steps) {
  using V = TypeParam;
  for (const char* spec : {"poisson1d:50", "poisson2d:40", "poisson3d:12", "anisotropic2d:30:10"}) {
    const auto a = generate(spec).a;
    const auto b = kit::times<V>(a, kit::random_vector<V>(a.shape.cols, 3));
    std::map<cg_form, outcome<V>> all;
    for (const auto& e : cg_forms()) {
      if (!obstacle(e.form, {}).empty()) continue;
      all[e.form] = run<V>(e.form, a, as_cview(b), sizeof(V) == 8 ? 1e-9 : 1e-3);
      EXPECT_EQ(all[e.form].report.why, status::converged) << spec << ' ' << e.name;
    }
    ASSERT_EQ(all.size(), 3u);
    const auto &tutorial = all[cg_form::tutorial], &fused = all[cg_form::fused], &cg = all[cg_form::beside];
    const index_t steps = cg.report.iterations;
    EXPECT_NEAR(double(tutorial.report.iterations), double(steps), 1) << spec;
    EXPECT_EQ(fused.report.iterations, steps) << spec;
    EXPECT_TRUE(kit::same_bits(as_cview(fused.x), as_cview(cg.x))) << spec;
    EXPECT_EQ(fused.report.bytes_per_iteration, cg.report.bytes_per_iteration);
    EXPECT_EQ(tutorial.report.bytes_per_iteration - fused.report.bytes_per_iteration,
              5.0 * sizeof(V) * double(a.shape.rows));
    EXPECT_GE(tutorial.report.waits, 2 * tutorial.report.iterations);
    EXPECT_GE(fused.report.waits, 2 * steps);
    EXPECT_LT(cg.report.waits, 40);
  }
}

TYPED_TEST(cg_forms_on_cpu, fused_makes_three_passes_and_brings_two_sums_home) {
  kit::check_cost<cg_fused_method, TypeParam>("poisson2d:40", "none", false, 3, {}, 2);
}

TEST(cg_forms, end_as_cg_ends) {
  const host_array<double> b(2, 1.0);
  for (const auto& e : cg_forms())
    if (obstacle(e.form, {}).empty()) {
      EXPECT_EQ(run<double>(e.form, kit::diagonal({1, -5}), as_cview(b), 1e-9).report.why,
                status::not_positive_definite)
          << e.name;
      EXPECT_EQ(run<double>(e.form, kit::diagonal({1, -1}), as_cview(b), 1e-9).report.why,
                status::not_positive_definite)
          << e.name;
    }
}

TEST(cg_forms, say_what_a_cpu_has_not) {
  EXPECT_EQ(form_of_cg({}), cg_form::beside);
  const auto a = kit::laplacian(4);
  const host_array<double> b(4, 1.0);
  for (const cg_form f : {cg_form::ahead, cg_form::graph}) {
    EXPECT_NE(obstacle(f, {}), "");
    EXPECT_EQ(kit::said_by(fault::usage, [&] { run<double>(f, a, as_cview(b), 1e-9); }), obstacle(f, {}));
  }
}

} // namespace
} // namespace furrow
