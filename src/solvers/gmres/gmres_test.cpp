// SPDX-License-Identifier: BSD-3-Clause
// gmres and fgmres, which share their text.
#include "gmres.hpp"

#include "solvers/fgmres/fgmres.hpp"

#include "kit/method_check.hpp"
#include "kit/said_by.hpp"

#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

namespace furrow {
namespace {

template <class V> struct gmres : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(gmres, precisions);

TYPED_TEST(gmres, solves_matrices_without_symmetry) {
  for (const char* solver : {"gmres", "gmres:3", "fgmres", "fgmres:3"}) kit::check_lopsided_systems<TypeParam>(solver);
}

/// The least |b - A x| over the Krylov spaces of 0, 1, 2, ... products, by a basis of A b, A^2 b, ... in long double.
std::vector<double> least_residuals(const coo<double>& a, const host_array<double>& b, int steps) {
  using vector = std::vector<long double>;
  const auto n = static_cast<std::size_t>(b.size());
  const auto dot = [&](const vector& x, const vector& y) {
    long double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
  };
  vector r(b.begin(), b.end()), v = r;
  std::vector<vector> images;
  std::vector<double> result{1};
  const long double norm_b = std::sqrt(dot(r, r));
  for (int k = 0; k < steps; ++k) {
    vector w(n, 0);
    for (index_t e = 0; e < a.nnz(); ++e)
      w[static_cast<std::size_t>(a.row[e])] +=
          static_cast<long double>(a.val[e]) * v[static_cast<std::size_t>(a.col[e])];
    for (int twice = 0; twice < 2; ++twice)
      for (const vector& q : images) {
        const long double c = dot(q, w);
        for (std::size_t i = 0; i < n; ++i) w[i] -= c * q[i];
      }
    const long double norm = std::sqrt(dot(w, w));
    for (long double& e : w) e /= norm;
    const long double c = dot(w, r);
    for (std::size_t i = 0; i < n; ++i) r[i] -= c * w[i];
    result.push_back(double(std::sqrt(dot(r, r)) / norm_b));
    images.push_back(w);
    v = w;
  }
  return result;
}

TEST(gmres_residuals, are_the_least_of_the_krylov_space) {
  const auto a = generate("convection2d:12:20").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 5);
  const auto expected = least_residuals(a, b, 20);
  for (const char* solver : {"gmres", "fgmres"}) {
    auto o = kit::solver_options<double>(solver, "none", 1e-14);
    o.max_iterations = 20;
    o.history = true;
    const auto s = kit::solve_honestly<double>(a, b, o);
    ASSERT_EQ(s.report.history.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(s.report.history[k], expected[k], 1e-15) << k;
    EXPECT_NEAR(s.report.relative_residual, expected.back(), 1e-12);
  }
}

/// Rows whose sizes span `decades`, no symmetry, a quarter of the entries: as from chemical engineering.
coo<double> uneven(index_t n, double decades) {
  const auto r = kit::random_vector<double>(n * n, 31), size = kit::random_vector<double>(n, 32);
  return kit::from_function(n, [&](index_t i, index_t j) {
    const double row = std::pow(10.0, 0.5 * decades * size[i]);
    return i == j ? row : (5 * i + 3 * j) % 4 == 0 ? row * r[i * n + j] : 0.0;
  });
}

struct looseness {
  double of_basis;      ///< the largest element of |V'V - I|
  double by_recurrence; ///< |r| / |b|
  double recomputed;    ///< the same of x
};

/// One cycle of `steps`, and what rounding has left of the promises that it is made of.
template <class V, bool flexible> looseness after_one_cycle(const coo<double>& wide, index_t steps) {
  const auto a = kit::as_precision<V>(wide);
  const auto op = find_format("csr").cpu.make<V>()(a, {}, "auto");
  const auto m = make_preconditioner<V>("none", a, device{}, {{true, true}, {true, true}});
  const auto b = kit::random_vector<V>(a.shape.rows, 33);
  host_array<V> x(a.shape.rows, V(0));
  cpu::space<V> space;
  solve_options o;
  o.rtol = 1e-30;
  o.max_iterations = steps;
  o.history = true;
  const stats s = measure(a);
  const std::string parameters = std::to_string(steps);
  const linear_system<V> system{*op, *m, as_cview(b), as_view(x), s.norm_inf, s.norm_inf, s.row_max, parameters};
  restarted_gmres<cpu::space<V>, flexible> method(space, system, o);
  const auto report = method.run();
  EXPECT_EQ(report.iterations, steps) << report.message;
  double worst = 0;
  const basis<V> all = method.vectors_of_cycle();
  for (index_t k = 0; k < steps; ++k)
    for (index_t l = 0; l <= k; ++l) {
      long double sum = k == l ? -1 : 0;
      for (index_t i = 0; i < all.n; ++i) sum += static_cast<long double>(all[k][i]) * all[l][i];
      worst = std::max(worst, double(std::fabs(sum)));
    }
  const auto truth = kit::true_residual(a, as_cview(b), as_cview(x));
  return {worst, report.history.back(), double(truth.norm / truth.norm_b)};
}

/// To 3 units of the last place; made orthogonal once, the last basis is off by 3e14 of them, and by 9e3 where rows
/// span three decades.
TYPED_TEST(gmres, makes_a_basis_that_is_orthogonal_to_rounding) {
  using V = TypeParam;
  const double unit = std::numeric_limits<V>::epsilon();
  for (const double decades : {0.0, 3.0, sizeof(V) == 8 ? 9.0 : 5.0})
    for (const index_t steps : {30, 90}) {
      SCOPED_TRACE(testing::Message() << decades << " decades, " << steps << " steps");
      const auto a = uneven(120, decades);
      const auto right = after_one_cycle<V, false>(a, steps), flexible = after_one_cycle<V, true>(a, steps);
      for (const auto& now : {right, flexible}) {
        EXPECT_LE(now.of_basis, 8 * unit);
        EXPECT_NEAR(now.recomputed, now.by_recurrence, (decades > 3 ? 1e5 : 16) * unit);
      }
    }
}

TYPED_TEST(gmres, never_grows_from_one_cycle_to_the_next) {
  using V = TypeParam;
  auto o = kit::solver_options<V>("gmres:5", "none", 1e-3);
  o.history = true;
  const auto a = generate("convection2d:30:50").a;
  const auto s = kit::solve_honestly<V>(a, kit::random_vector<V>(a.shape.rows, 6), o);
  ASSERT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_GT(s.report.iterations, 20);
  EXPECT_EQ(s.report.restarts, 0); // a new cycle is none
  for (std::size_t k = 1; k < s.report.history.size(); ++k)
    EXPECT_LE(s.report.history[k], s.report.history[k - 1] * (1 + 64 * double(std::numeric_limits<V>::epsilon()))) << k;
}

TYPED_TEST(gmres, takes_as_many_steps_as_there_are_eigenvalues) {
  using V = TypeParam;
  const auto a = kit::diagonal({1, 2, 3, 1, 2, 3, 1, 2, 3});
  const auto s = kit::solve_honestly<V>(a, host_array<V>(9, V(1)), kit::solver_options<V>("gmres", "none"));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_EQ(s.report.iterations, 3);
}

TYPED_TEST(gmres, shows_a_monitor_the_x_of_the_moment) {
  using V = TypeParam;
  const auto matrix = generate("convection2d:16:20").a;
  const auto b = kit::random_vector<V>(matrix.shape.rows, 7);
  for (const char* m : {"none", "jacobi", "ilu"})
    for (const char* name : {"gmres:7", "fgmres:7"}) {
      SCOPED_TRACE(std::string(name) + ", " + m);
      auto o = kit::solver_options<V>(name, m, sizeof(V) == 8 ? 1e-8 : 1e-3);
      int seen = 0;
      o.monitor_every = 3;
      o.monitor = [&](const progress& p, cview<double> x) {
        host_array<double> copy(x.size), wide(b.size());
        std::copy(x.begin(), x.end(), copy.begin());
        std::copy(b.begin(), b.end(), wide.begin());
        const auto truth = kit::true_residual(matrix, as_cview(wide), as_cview(copy));
        EXPECT_NEAR(double(truth.norm / truth.norm_b), p.relative_residual, sizeof(V) == 8 ? 1e-10 : 1e-4)
            << p.iteration;
        ++seen;
        return true;
      };
      const auto watched = kit::solve_honestly<V>(matrix, b, o);
      EXPECT_EQ(watched.report.why, status::converged) << watched.report.message;
      EXPECT_GE(seen, 1);
      o.monitor = nullptr;
      const auto alone = kit::solve_honestly<V>(matrix, b, o); // looking changes nothing
      EXPECT_EQ(alone.report.iterations, watched.report.iterations);
      EXPECT_TRUE(kit::same_bits(as_cview(alone.x), as_cview(watched.x)));
    }
}

TYPED_TEST(gmres, has_the_same_bits_for_every_number_of_threads) {
  using V = TypeParam;
  const auto a = generate("convection2d:120:10").a;
  const auto b = kit::random_vector<V>(a.shape.rows, 11);
  host_array<V> first;
  for (const int count : {1, 1, 2, 3}) {
    set_threads(count);
    auto s = kit::solve_honestly<V>(a, b, kit::solver_options<V>("gmres:20", "jacobi", 1e-2));
    ASSERT_EQ(s.report.why, status::converged) << s.report.message;
    if (first.empty()) first = std::move(s.x);
    else {
      EXPECT_TRUE(kit::same_bits(as_cview(first), as_cview(s.x))) << count;
    }
  }
  set_threads(0);
}

TYPED_TEST(gmres, never_says_converged_of_singular_systems_and_keeps_the_best) {
  kit::check_inconsistent<TypeParam>("gmres");
}

TYPED_TEST(gmres, says_singular_with_a_sentence) {
  using V = TypeParam;
  for (const auto& a : {kit::assemble({2, 2}, {{0, 1, 1}}), kit::assemble({3, 3}, {})}) {
    host_array<V> b(a.shape.rows, V(0));
    b[a.shape.rows - 1] = 1;
    const auto s = kit::solve_honestly<V>(a, b, kit::solver_options<V>("gmres", "none"));
    EXPECT_EQ(s.report.why, status::singular) << s.report.message;
    EXPECT_NE(s.report.message.find("Krylov"), std::string::npos) << s.report.message;
    EXPECT_LE(s.report.relative_residual, 1 + 1e-14);
  }
}

TEST(gmres_overflow, is_said) {
  const auto s =
      kit::solve_honestly<double>(kit::diagonal({1e200, 1}), {1, 1}, kit::solver_options<double>("gmres", "none"));
  EXPECT_EQ(s.report.why, status::nan) << s.report.message;
  EXPECT_NE(s.report.message.find("overflow"), std::string::npos) << s.report.message;
}

/// Another diagonal each time.
template <class V> class shifting final : public any_preconditioner<V> {
public:
  void apply(cview<V> r, view<V> z) const override {
    ++calls_;
    for (index_t i = 0; i < r.size; ++i) z[i] = r[i] / V(4 + (i + calls_) % 3);
  }
  double stored_bytes() const override { return 0; }

private:
  mutable index_t calls_ = 0;
};

TYPED_TEST(gmres, flexible_takes_a_preconditioner_that_changes) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(generate("convection2d:20:5").a);
  const auto b = kit::random_vector<V>(a.shape.rows, 8);
  const auto op = find_format("csr").cpu.make<V>()(a, {}, "auto");
  const shifting<V> m;
  solver<V> flexible(*op, &m, kit::solver_options<V>("fgmres:40", "none", sizeof(V) == 8 ? 1e-10 : 1e-4));
  host_array<V> x(b.size(), V(0));
  const auto report = flexible.solve(as_cview(b), as_view(x));
  EXPECT_EQ(report.why, status::converged) << report.message;
  const auto truth = kit::true_residual(a, as_cview(b), as_cview(x));
  EXPECT_LE(truth.norm, (sizeof(V) == 8 ? 1e-10 : 1e-4) * truth.norm_b * 1.01);
}

TEST(gmres_parameters, are_checked) {
  const auto a = kit::laplacian(4);
  for (const char* solver : {"gmres:0", "gmres:301", "gmres:x", "gmres:3:4", "fgmres:-1", "gmres:basis=f16",
                             "gmres:basis=", "gmres:basis=f32:basis=f32", "fgmres:basis=f32"}) {
    auto o = kit::solver_options<double>(solver, "none");
    const host_array<double> b(4, 1.0);
    host_array<double> x(4, 0.0);
    EXPECT_NE(kit::said_by(fault::usage, [&] { solve(a, as_cview(b), as_view(x), o); }), "") << solver;
  }
}

TYPED_TEST(gmres, costs_what_its_header_says) {
  kit::check_cost<gmres_method, TypeParam>("convection2d:40:1", "none", false, 3, "8");
  kit::check_cost<gmres_method, TypeParam>("convection2d:40:1", "jacobi", false, 4, "8");
  kit::check_cost<gmres_method, TypeParam>("convection2d:40:1", "jacobi", true, 4, "8");
}

TEST(gmres_basis, in_single_precision_costs_what_its_header_says) {
  kit::check_cost<gmres_method, double>("convection2d:40:1", "none", false, 3, "8:basis=f32");
  kit::check_cost<gmres_method, double>("convection2d:40:1", "jacobi", true, 4, "8:basis=f32");
}

TEST(gmres_basis, in_single_precision_solves_matrices_without_symmetry) {
  for (const char* solver : {"gmres:basis=f32", "gmres:3:basis=f32"}) kit::check_lopsided_systems<double>(solver);
  kit::check_inconsistent<double>("gmres:basis=f32");
}

/// Cycles reduce the residual by some six digits each, whatever is asked for.
TEST(gmres_basis, in_single_precision_takes_the_steps_of_a_basis_in_double) {
  for (const char* spec : {"convection2d:60:100", "convection2d:60:1", "poisson2d:60"}) {
    SCOPED_TRACE(spec);
    const auto a = generate(spec).a;
    const auto b = kit::random_vector<double>(a.shape.rows, 4);
    const auto steps = [&](const char* solver, const char* m, double rtol) {
      const auto s = kit::solve_honestly<double>(a, b, kit::solver_options<double>(solver, m, rtol));
      EXPECT_EQ(s.report.why, status::converged) << solver << ": " << s.report.message;
      return double(s.report.iterations);
    };
    const double wide = steps("gmres:20", "none", 1e-10), narrow = steps("gmres:20:basis=f32", "none", 1e-10);
    EXPECT_NEAR(narrow, wide, 0.05 * wide);
    // One cycle is enough in double, and cannot be here: its residual is that of a basis in single precision.
    EXPECT_GT(steps("gmres:200:basis=f32", "ilu", 1e-12), steps("gmres:200", "ilu", 1e-12));
  }
}

TEST(gmres_basis, in_single_precision_is_for_solves_in_double) {
  const auto a = kit::as_precision<float>(kit::laplacian(4));
  const host_array<float> b(4, 1.0f);
  host_array<float> x(4, 0.0f);
  EXPECT_NE(
      kit::said_by(fault::usage,
                   [&] { solve(a, as_cview(b), as_view(x), kit::solver_options<float>("gmres:basis=f32", "none")); })
          .find("leave it out"),
      std::string::npos);
}

TYPED_TEST(gmres, flexible_costs_what_its_header_says) {
  kit::check_cost<fgmres_method, TypeParam>("convection2d:40:1", "none", false, 4, "8");
  kit::check_cost<fgmres_method, TypeParam>("convection2d:40:1", "jacobi", false, 5, "8");
  kit::check_cost<fgmres_method, TypeParam>("convection2d:40:1", "jacobi", true, 5, "8");
}

} // namespace
} // namespace furrow
