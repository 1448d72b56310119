// SPDX-License-Identifier: BSD-3-Clause
// Preconditioners and solvers are set up from rows on the GPU as from triplets.
#include "path.hpp"

#include "core/measure.hpp"
#include "matrix/source.hpp"
#include "preconditioners/entry.hpp"

#include "kit/random.hpp"

#include <furrow/solver.hpp>

namespace furrow {
namespace {

TYPED_TEST(gpu_path, preconditions_as_from_triplets) {
  using V = TypeParam;
  for (const char* spec : {"poisson3d:20", "anisotropic2d:60:0.01", "elasticity3d:7"}) {
    const auto a = kit::as_precision<V>(generate(spec).a);
    const matrix_source<V> source(a, this->gpu);
    const stats s = measure(a);
    for (const char* name : {"jacobi", "amg:sa", "amg", "none"}) {
      SCOPED_TRACE(std::string(spec) + " " + name);
      const solver_needs needed{.a = {true, true}, .m = {true, true}};
      const auto wanted = make_preconditioner<V>(name, a, this->gpu, needed);
      const auto got = make_preconditioner<V>(name, source, s, this->gpu, needed);
      EXPECT_EQ(got->describe(), wanted->describe());
      if (got->what() == any_preconditioner<V>::kind::identity) continue;
      const gpu_array<V> r(kit::random_vector<V>(a.shape.rows, 8));
      gpu_array<V> z(a.shape.rows), expected(a.shape.rows);
      got->apply(as_cview(r), as_view(z));
      wanted->apply(as_cview(r), as_view(expected));
      expect_same(host_array<V>(z), host_array<V>(expected), "z");
    }
  }
}

TYPED_TEST(gpu_path, a_diagonal_that_jacobi_refuses_is_named) {
  using V = TypeParam;
  auto a = kit::as_precision<V>(kit::laplacian(20, 20));
  for (const V bad : {V(0), V(-3)}) {
    for (index_t k = 0; k < a.nnz(); ++k)
      if (a.row[k] == 111 && a.col[k] == 111) a.val[k] = bad;
    host_array<V> x(400, V(0)), b(400, V(1));
    const auto report = solve(a, as_cview(b), as_view(x), this->solving("cg", "jacobi"));
    EXPECT_EQ(report.why, status::not_positive_definite) << report.message;
    EXPECT_NE(report.message.find("diagonal entry 112"), std::string::npos) << report.message;
  }
}

TYPED_TEST(gpu_path, solves_from_rows_there_as_from_triplets) {
  using V = TypeParam;
  for (const char* spec : {"poisson3d:20", "convection2d:50:1"})
    for (const char* method : {"auto", "bicgstab"}) {
      SCOPED_TRACE(std::string(spec) + " " + method);
      const auto a = kit::as_precision<V>(generate(spec).a);
      const host_array<V> b(a.shape.rows, V(1));
      const auto o = this->solving(method, "auto", sizeof(V) == 8 ? 1e-9 : 1e-4);
      host_array<V> x(a.shape.cols, V(0)), y(a.shape.cols, V(0));
      const auto one = solver<V>(a, o).solve(as_cview(b), as_view(x));
      const auto other = solver<V>(send<V, std::int64_t>(a, this->gpu), o).solve(as_cview(b), as_view(y));
      EXPECT_EQ(one.why, status::converged) << one.message;
      expect_same(y, x, "x");
      double parts = 0;
      for (const setup_part& p : one.setup_parts) parts += p.seconds;
      ASSERT_FALSE(one.setup_parts.empty());
      EXPECT_EQ(one.setup_parts.front().what, "upload");
      EXPECT_LE(parts, one.setup_seconds);
      EXPECT_EQ(other.format, one.format);
    }
}

} // namespace
} // namespace furrow
