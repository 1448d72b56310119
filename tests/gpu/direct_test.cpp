// SPDX-License-Identifier: BSD-3-Clause
// Factors on the GPU by cuDSS; skipped by name where it is not installed.
#include "on_gpu.hpp"

#include "preconditioners/lu/cudss.hpp"

#include "kit/guarded.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"
#include "kit/solve_check.hpp"

#include <furrow/error.hpp>
#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

namespace furrow {
namespace {

template <class V> struct gpu_direct : on_gpu_in<V> {
  void SetUp() override {
    on_gpu_in<V>::SetUp();
    if (!testing::Test::IsSkipped() && !lu::cudss::find()) GTEST_SKIP() << "cuDSS is not installed";
  }
  solve_options options(std::string solver = "direct") const {
    return this->solving(std::move(solver), "lu", sizeof(V) == 8 ? 1e-11 : 1e-5);
  }
};
TYPED_TEST_SUITE(gpu_direct, precisions);

TYPED_TEST(gpu_direct, solves_matrices_of_every_kind) {
  using V = TypeParam;
  for (const char* m : {"poisson2d:40", "convection2d:40:100", "poisson3d:12"}) {
    SCOPED_TRACE(m);
    const auto a = generate(m).a;
    const auto expected = kit::random_vector<V>(a.shape.cols, 3);
    const auto b = kit::times<V>(a, expected);
    const auto first = kit::solve_honestly<V>(a, b, this->options());
    ASSERT_EQ(first.report.why, status::converged) << first.report.message;
    EXPECT_LE(first.report.iterations, 3);
    EXPECT_NE(first.report.precond_about.find("cuDSS"), std::string::npos) << first.report.precond_about;
    for (index_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(double(first.x[i]), double(expected[i]), sizeof(V) == 8 ? 1e-8 : 0.05);
    const auto again = kit::solve_honestly<V>(a, b, this->options());
    EXPECT_TRUE(kit::same_bits(as_cview(first.x), as_cview(again.x)));
  }
}

TYPED_TEST(gpu_direct, factors_once_and_serves_other_solvers) {
  using V = TypeParam;
  const auto a = generate("convection2d:30:20").a;
  const auto b = kit::random_vector<V>(a.shape.rows, 1);
  solver<V> kept(kit::as_precision<V>(a), this->options());
  host_array<V> x(b.size(), V(0)), y(b.size(), V(0));
  EXPECT_EQ(kept.solve(as_cview(b), as_view(x)).why, status::converged);
  EXPECT_EQ(kept.solve(as_cview(b), as_view(y)).setup_seconds, 0);
  EXPECT_TRUE(kit::same_bits(as_cview(x), as_cview(y)));
  for (const char* solver : {"bicgstab", "gmres:10"}) {
    const auto s = kit::solve_honestly<V>(a, b, this->options(solver));
    EXPECT_EQ(s.report.why, status::converged) << solver << ": " << s.report.message;
    EXPECT_LE(s.report.iterations, 3) << solver;
  }
}

TYPED_TEST(gpu_direct, never_says_converged_of_a_singular_matrix) {
  using V = TypeParam;
  const coo<double> rank_one{{2, 2}, {0, 0, 1, 1}, {0, 1, 0, 1}, {1, 2, 2, 4}};
  EXPECT_NE(kit::solve_honestly<V>(rank_one, host_array<V>{1, 1}, this->options()).report.why, status::converged);
  const coo<double> empty_column{{3, 3}, {0, 0, 1, 2}, {0, 1, 1, 0}, {1, 2, 3, 4}};
  const auto r = kit::solve_honestly<V>(empty_column, host_array<V>{1, 1, 1}, this->options()).report;
  EXPECT_EQ(r.why, status::singular) << r.message;
}

TYPED_TEST(gpu_direct, has_no_dense_and_banded_factors) {
  auto o = this->options();
  for (const char* kind : {"lu:dense", "lu:band"}) {
    o.precond = kind;
    EXPECT_THROW(kit::solve_honestly<TypeParam>(kit::laplacian(9), host_array<TypeParam>(9, TypeParam(1)), o), error);
  }
}

struct gpu_without_cudss : on_gpu {};

TEST_F(gpu_without_cudss, says_what_to_install) {
  if (lu::cudss::find()) GTEST_SKIP() << "cuDSS is installed";
  solve_options o;
  o.where = gpu;
  o.solver = "direct";
  kit::expect_refusal("pip install nvidia-cudss",
                      [&] { kit::solve_honestly<double>(kit::laplacian(9), host_array<double>(9, 1.0), o); });
}

} // namespace
} // namespace furrow
