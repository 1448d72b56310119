// SPDX-License-Identifier: BSD-3-Clause
#include "matrix/colouring.hpp"
#include "preconditioners/entry.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/options.hpp"
#include "kit/random.hpp"
#include "kit/refused_by.hpp"
#include "kit/solve_check.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/generate.hpp>

#include <cmath>
#include <limits>
#include <vector>

namespace furrow {
namespace {

/// omega (2 - omega) (D + omega U)^-1 D (D + omega L)^-1 r by definition, rows in the order of their colours; `sizes`:
/// with |D| in the place of D.
template <class V>
std::vector<long double> by_definition(const coo<V>& a, const host_array<V>& r, long double omega, bool sizes) {
  const auto order = order_by_colours(colour_greedily(neighbours_of(rows_of_triplets<V>(a).view())));
  const index_t n = a.shape.rows;
  std::vector<long double> dense(static_cast<std::size_t>(n * n), 0), z(static_cast<std::size_t>(n));
  for (index_t k = 0; k < a.nnz(); ++k)
    dense[a.row[k] * n + a.col[k]] = sizes && a.row[k] == a.col[k] ? std::abs(a.val[k]) : a.val[k];
  const auto at = [&](index_t i, index_t j) { return dense[order[i] * n + order[j]]; };
  for (index_t i = 0; i < n; ++i) {
    long double sum = r[order[i]];
    for (index_t j = 0; j < i; ++j) sum -= omega * at(i, j) * z[order[j]];
    z[order[i]] = sum / at(i, i);
  }
  for (index_t i = n; i-- > 0;) {
    long double sum = at(i, i) * z[order[i]];
    for (index_t j = i + 1; j < n; ++j) sum -= omega * at(i, j) * z[order[j]];
    z[order[i]] = sum / at(i, i);
  }
  for (long double& v : z) v *= omega * (2 - omega);
  return z;
}

/// Nonsymmetric, every third row with a negative diagonal.
coo<double> of_both_signs(index_t n) {
  kit::splitmix random(5);
  return kit::from_function(n, [&](index_t i, index_t j) {
    if (i == j) return (i % 3 == 0 ? -1 : 1) * (4 + random.unit());
    return random.below(8) == 0 ? random.value() : 0.0;
  });
}

template <class V> struct ssor : testing::Test {
  static void compare(const coo<double>& a, const std::string& name, long double omega, solver_needs needed = {}) {
    const index_t n = a.shape.rows;
    const auto rounded = kit::as_precision<V>(a);
    const auto m = make_preconditioner<V>(name, rounded, device{}, needed);
    const auto r = kit::random_vector<V>(n, 2);
    const auto wanted = by_definition<V>(rounded, r, omega, needed.m.definite);
    kit::guarded<V, kit::host_side> given(r), z = kit::guarded<V, kit::host_side>::unwritten(n);
    m->apply(given.get(), z.get());
    const auto got = z.take();
    double size = 0;
    for (const long double v : wanted) size = std::max(size, double(std::abs(v)));
    for (index_t i = 0; i < n; ++i)
      ASSERT_NEAR(double(got[i]), double(wanted[i]), 200 * size * std::numeric_limits<V>::epsilon())
          << name << ' ' << i;
  }
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(ssor, precisions);

TYPED_TEST(ssor, is_what_its_formula_says) {
  for (const auto& a : {kit::laplacian(9, 7), generate("elasticity3d:3").a, generate("random:150:6").a,
                        of_both_signs(60), kit::diagonal({4})}) {
    this->compare(a, "ssor", 1);
    this->compare(a, "ssor:1.5", 1.5L);
    this->compare(a, "ssor:0.25", 0.25L);
  }
  this->compare(of_both_signs(60), "ssor:1.5", 1.5L, {{true, false}, {true, true}});
}

TEST(ssor, counts_its_colours) {
  const auto about = [](const coo<double>& a, const char* name) {
    return make_preconditioner<double>(name, a, device{}, {})->describe();
  };
  EXPECT_EQ(about(kit::laplacian(6, 5), "ssor:1.5"), "ssor:1.5: 2 colours");
  EXPECT_EQ(about(kit::diagonal({1, 2}), "ssor"), "ssor:1: 1 colour");
}

TEST(ssor, halves_the_iterations_of_jacobi) {
  const auto a = generate("poisson3d:40").a;
  const auto b = kit::times(a, host_array<double>(a.shape.rows, 1.0));
  const auto iterations = [&](const char* name) {
    solve_options o;
    o.precond = name;
    o.rtol = 1e-8;
    const auto s = kit::solve_honestly<double>(a, b, o);
    EXPECT_EQ(s.report.why, status::converged) << name << ' ' << s.report.message;
    return s.report.iterations;
  };
  EXPECT_NEAR(double(iterations("ssor")), double(iterations("jacobi")) / 2, 4);
}

TEST(ssor, serves_matrices_that_are_not_symmetric) {
  const auto a = generate("convection2d:40:10").a;
  const auto s = kit::solve_honestly<double>(a, kit::times(a, host_array<double>(a.shape.rows, 1.0)),
                                             kit::options("bicgstab", "ssor"));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
}

TEST(ssor, refuses_what_it_cannot_serve) {
  const auto make = [](const char* name, const coo<double>& a) { make_preconditioner<double>(name, a, {}, {}); };
  for (const char* name : {"ssor:0", "ssor:2", "ssor:-1", "ssor:nan", "ssor:x", "ssor:1:1"})
    EXPECT_THROW(make(name, kit::laplacian(5)), error) << name;
  kit::expect_refusal(status::breakdown, "diagonal entry 2 is 0, by which ssor would divide: take ilu, or none", [&] {
    make("ssor", kit::diagonal({1, 0, 2}));
  });
  const auto steep = kit::assemble({2, 2}, {{0, 0, 1e-30}, {0, 1, 1e30}, {1, 0, 1e30}, {1, 1, 1e-30}});
  EXPECT_THROW(make_preconditioner<float>("ssor", kit::as_precision<float>(steep), {}, {}), refusal);
}

} // namespace
} // namespace furrow
