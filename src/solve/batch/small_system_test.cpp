// SPDX-License-Identifier: BSD-3-Clause
// Launches for many systems, played on the CPU: each ends as the same method does by itself.
#include "batch_test_kit.hpp"
#include "together.hpp"

#include "kit/hilbert.hpp"
#include "solve/solve_test_kit.hpp"

#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <cmath>

namespace furrow::small_systems {
namespace {

using namespace solve_test;

constexpr chip hopper{132, 230'000, 233'472};

template <class V> struct owned {
  coo<V> a;
  host_array<V> b, x;

  owned(const coo<double>& from, int seed)
      : a(kit::as_precision<V>(from)), b(kit::random_vector<V>(a.shape.rows, seed)), x(a.shape.cols, V(0)) {}
  owned(const coo<double>& from, host_array<V> rhs)
      : a(kit::as_precision<V>(from)), b(std::move(rhs)), x(a.shape.cols, V(0)) {}
};

template <class V> system_source<V> source_of(std::vector<owned<V>>& all) {
  system_source<V> s;
  s.count = std::ssize(all);
  s.size = [&](index_t k) { return all[k].a.shape.rows + all[k].a.nnz(); };
  s.triplets = [&](index_t k) { return all[k].a; };
  s.b = [&](index_t k) { return as_cview(all[k].b); };
  s.x = [&](index_t k) { return as_view(all[k].x); };
  return s;
}

/// On the CPU, as if its chip were that of a GPU.
template <class V>
std::vector<taken> played(std::vector<owned<V>>& all, const solve_options& o, bool blocks = false,
                          const chip& there = hopper, double most_bytes = 1e9) {
  shared_callbacks callbacks(o);
  return solve_together<V>(
      source_of(all), o, callbacks, there, [&] { return std::make_unique<played_engine<V>>(blocks); }, most_bytes);
}

template <class V> struct small_system_test : testing::Test {
  static constexpr double rtol = sizeof(V) == 8 ? 1e-10 : 1e-4;
  static solve_options options(std::string solver, std::string precond = "jacobi") {
    return kit::options(std::move(solver), std::move(precond), rtol);
  }
  /// Holds an outcome to the truth and to a solve by itself.
  static void compare(const owned<V>& one, const taken& got, const solve_options& o, host_array<V> first = {}) {
    ASSERT_TRUE(got.outcome) << got.alone;
    const solve_report& r = got.outcome->report;
    if (first.empty()) first = host_array<V>(one.x.size(), V(0));
    const auto alone = kit::solve_honestly<V>(to_double(one.a), one.b, o, std::move(first)).report;
    EXPECT_EQ(r.why, alone.why) << r.message << "; " << alone.message;
    EXPECT_NEAR(double(r.iterations), double(alone.iterations),
                2 + (sizeof(V) == 8 ? 0.05 : 0.3) * double(alone.iterations))
        << r.message << "; " << alone.message;
    const auto truth = kit::true_residual(one.a, as_cview(one.b), as_cview(one.x));
    if (r.why == status::converged) {
      EXPECT_LE(truth.norm, std::max<long double>(o.rtol * truth.norm_b, o.atol) * (1 + 1e-6L)) << r.message;
    }
    if (std::isfinite(r.relative_residual) && truth.norm_b > 0) {
      EXPECT_NEAR(r.relative_residual, double(truth.norm / truth.norm_b),
                  double((truth.rounding + 1e-6L * truth.norm) / truth.norm_b));
    }
    if (o.history && r.iterations > 0) {
      EXPECT_EQ(r.history.size(), std::size_t(r.iterations) + 1);
      EXPECT_NEAR(r.history[0], alone.history[0], 1e-6 * alone.history[0]);
    }
    EXPECT_EQ(r.history.size(), r.history_seconds.size());
    if (alone.condition_estimate > 0) {
      EXPECT_NEAR(std::log(r.condition_estimate / alone.condition_estimate), 0, 0.5);
      if (std::min(r.relative_residual, alone.relative_residual) > 100 * double(epsilon_of<V>)) {
        EXPECT_NEAR(std::log(r.error_estimate / alone.error_estimate), 0, 2.5);
      }
    }
    EXPECT_EQ(r.warning.empty(), alone.warning.empty()) << r.warning << alone.warning;
  }
  static coo<double> to_double(const coo<V>& a) {
    coo<double> wide{a.shape, a.row, a.col, host_array<double>(a.nnz())};
    std::copy(a.val.begin(), a.val.end(), wide.val.begin());
    return wide;
  }
};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(small_system_test, precisions);

/// Hilbert's matrices among others: `auto` looks at them by complete factors, as it does by itself.
TEST(small_systems, are_doubted_as_by_themselves) {
  std::vector<owned<double>> all;
  std::vector<host_array<double>> expected;
  for (index_t n = 5; n <= 10; ++n) {
    const auto a = n == 5 ? generate("poisson2d:6").a : kit::hilbert(n);
    host_array<double> x(a.shape.rows);
    for (index_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? -1 : 1;
    all.emplace_back(a, kit::times(a, x));
    expected.push_back(std::move(x));
  }
  const auto got = played(all, solve_options{});
  int wrong = 0;
  for (std::size_t k = 0; k < all.size(); ++k) {
    SCOPED_TRACE(k);
    ASSERT_TRUE(got[k].outcome) << got[k].alone;
    const solve_report& r = got[k].outcome->report;
    ASSERT_EQ(r.why, status::converged) << r.message;
    double off = 0, size = 0;
    for (index_t i = 0; i < expected[k].size(); ++i) {
      off = std::max(off, std::abs(all[k].x[i] - expected[k][i])), size = std::max(size, std::abs(all[k].x[i]));
    }
    off /= size;
    EXPECT_GT(r.error_estimate, off / 3);
    EXPECT_GT(r.condition_estimate, 1);
    if (off > 0.02) {
      EXPECT_NE(r.warning, "");
    }
    if (k == 0) {
      EXPECT_EQ(r.warning, "");
    }
    wrong += off > 0.1;
  }
  EXPECT_GT(wrong, 2);
}

/// A grid without a boundary value, and one of two parts, by themselves and in a batch.
TEST(small_systems, are_told_to_be_singular_as_by_themselves) {
  std::vector<kit::triplet> entries{{0, 0, 1}};
  for (const index_t first : {0, 20})
    for (index_t i = first; i + 1 < first + 20; ++i)
      for (const auto& [k, l, v] : {kit::triplet{0, 0, 1}, {1, 1, 1}, {0, 1, -1}, {1, 0, -1}})
        entries.push_back({i + k, i + l, v});
  std::vector<owned<double>> all;
  for (const auto& a : {kit::laplacian(7, 6, 1, true), kit::assemble({40, 40}, entries), kit::laplacian(7, 6)})
    all.emplace_back(a, kit::times(a, kit::random_vector<double>(a.shape.rows, 2)));
  const auto got = played(all, solve_options{});
  const char* const words[] = {"look at its rows", "look at its columns", nullptr};
  for (std::size_t k = 0; k < all.size(); ++k) {
    ASSERT_TRUE(got[k].outcome) << got[k].alone;
    const solve_report& r = got[k].outcome->report;
    ASSERT_EQ(r.why, status::converged) << r.message;
    if (words[k]) {
      EXPECT_NE(r.warning.find(words[k]), std::string::npos) << k << ": " << r.warning;
      EXPECT_EQ(r.error_estimate, 0);
    } else {
      EXPECT_EQ(r.warning, "");
    }
  }
}

const char* const definite[] = {"poisson1d:1", "poisson1d:2",   "poisson1d:31",      "poisson1d:33",
                                "poisson2d:5", "poisson2d:22",  "anisotropic2d:9:9", "elasticity3d:2",
                                "random:60:9", "stencil3d27:4", "poisson3d:7"};

TYPED_TEST(small_system_test, takes_the_steps_of_cg) {
  using V = TypeParam;
  for (const char* m : {"jacobi", "none"}) {
    std::vector<owned<V>> all;
    for (const char* spec : definite) all.emplace_back(generate(spec).a, 3);
    const auto o = this->options("cg", m);
    const auto got = played(all, o);
    for (std::size_t k = 0; k < all.size(); ++k) {
      SCOPED_TRACE(std::string(definite[k]) + ", " + m);
      this->compare(all[k], got[k], o);
    }
  }
}

TYPED_TEST(small_system_test, takes_the_steps_of_bicgstab) {
  using V = TypeParam;
  const char* const specs[] = {"poisson1d:1",       "poisson2d:8",        "convection2d:9:20",
                               "convection2d:20:5", "convection2d:22:40", "random:50:6"};
  for (const char* m : {"jacobi", "none"}) {
    std::vector<owned<V>> all;
    for (const char* spec : specs) all.emplace_back(generate(spec).a, 3);
    const auto o = this->options("bicgstab", m);
    const auto got = played(all, o);
    for (std::size_t k = 0; k < all.size(); ++k) {
      SCOPED_TRACE(std::string(specs[k]) + ", " + m);
      this->compare(all[k], got[k], o);
    }
  }
}

/// Threads play the lanes: rows of one lane and of several, the matrix inside and outside.
TYPED_TEST(small_system_test, is_solved_by_blocks_with_the_bits_of_every_run) {
  using V = TypeParam;
  for (const char* solver : {"cg", "bicgstab"})
    for (const int bytes : {230'000, 9'000}) {
      std::vector<owned<V>> all, again;
      for (const char* spec : {"poisson1d:2", "poisson2d:6", "stencil3d27:3", "poisson2d:10"}) {
        all.emplace_back(generate(spec).a, 3);
        again.emplace_back(generate(spec).a, 3);
      }
      again.erase(again.begin()); // beside other systems
      const auto o = this->options(solver);
      const chip there{132, bytes, 233'472};
      const auto first = played(all, o, true, there), second = played(again, o, true, there);
      for (std::size_t k = 0; k < all.size(); ++k) {
        SCOPED_TRACE(std::string(solver) + " of system " + std::to_string(k));
        this->compare(all[k], first[k], o);
        if (k == 0) continue;
        EXPECT_TRUE(kit::same_bits(as_cview(all[k].x), as_cview(again[k - 1].x)));
        EXPECT_EQ(first[k].outcome->report.history, second[k - 1].outcome->report.history);
      }
    }
}

TYPED_TEST(small_system_test, ends_for_the_reasons_of_a_solve_by_itself) {
  using V = TypeParam;
  const auto four = [](std::initializer_list<double> d) { return kit::diagonal(d); };
  const host_array<V> ones(4, V(1));
  auto shifted = kit::laplacian(9, 9); // indefinite with a positive diagonal
  for (index_t k = 0; k < shifted.nnz(); ++k)
    if (shifted.row[k] == shifted.col[k]) shifted.val[k] -= 1.03;
  auto constants = kit::laplacian(30, 1, 1, true, 0); // maps constants to zero
  for (const char* solver : {"cg", "bicgstab"})
    for (const char* m : {"jacobi", "none"}) {
      std::vector<owned<V>> all;
      all.emplace_back(four({1, 2, -3, 4}), host_array<V>(ones));
      all.emplace_back(four({1, -1, 1, -1}), host_array<V>(ones));
      all.emplace_back(shifted, 3);
      all.emplace_back(constants, 5);
      all.emplace_back(kit::laplacian(6, 6), 2);
      const auto o = this->options(solver, m);
      const auto got = played(all, o);
      for (std::size_t k = 0; k < all.size(); ++k) {
        SCOPED_TRACE(std::string(solver) + " with " + m + " of system " + std::to_string(k));
        host_array<V> x(all[k].x.size(), V(0));
        const auto alone = kit::solve_honestly<V>(this->to_double(all[k].a), all[k].b, o).report;
        EXPECT_TRUE(got[k].outcome || k != 3 || std::string(solver) != "cg") << got[k].alone;
        if (!got[k].outcome) {
          EXPECT_TRUE(std::string(m) == "jacobi" || k == 1) << got[k].alone; // p'Ap = 0 of the second one
          EXPECT_NE(alone.why, status::converged);
          continue;
        }
        const auto& r = got[k].outcome->report;
        // BiCGStab ends on a singular matrix by chance: by a scalar that vanishes, or grown.
        if (k == 3 && std::string(solver) == "bicgstab") EXPECT_NE(r.why, status::converged);
        else EXPECT_EQ(r.why, alone.why) << r.message << "; " << alone.message;
        EXPECT_LE(kit::true_residual(all[k].a, as_cview(all[k].b), as_cview(all[k].x)).norm,
                  kit::true_residual(all[k].a, as_cview(all[k].b), as_cview(x)).norm * (1 + 1e-6L));
      }
    }
}

TYPED_TEST(small_system_test, stagnates_and_comes_to_its_limits_as_by_itself) {
  using V = TypeParam;
  for (const char* solver : {"cg", "bicgstab"}) {
    std::vector<owned<V>> all;
    for (const index_t n : {5, 12, 30}) all.emplace_back(kit::laplacian(n, n), 3);
    auto o = this->options(solver);
    o.rtol = 1e-20;
    auto got = played(all, o);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto& r = got[k].outcome->report;
      EXPECT_EQ(r.why, status::stagnated) << r.message;
      EXPECT_GE(r.restarts, 9) << r.message;
      EXPECT_LT(r.relative_residual, sizeof(V) == 8 ? 1e-14 : 1e-5);
    }
    o = this->options(solver);
    for (const index_t limit : {1, 3, 5}) {
      o.max_iterations = limit;
      for (auto& one : all) std::fill(one.x.begin(), one.x.end(), V(0));
      got = played(all, o);
      for (std::size_t k = 1; k < all.size(); ++k) {
        EXPECT_EQ(got[k].outcome->report.iterations, limit);
        this->compare(all[k], got[k], o);
      }
    }
  }
}

TYPED_TEST(small_system_test, begins_with_the_first_guess_and_never_hands_back_a_worse_x) {
  using V = TypeParam;
  const auto o = this->options("cg");
  std::vector<owned<V>> all;
  for (int k = 0; k < 3; ++k) {
    all.emplace_back(kit::laplacian(11, 7), k);
    all.back().x = kit::random_vector<V>(77, 40 + k);
  }
  auto firsts = all;
  auto once = this->options("cg");
  once.max_iterations = 1;
  auto short_runs = all;
  const auto stopped = played(short_runs, once);
  const auto got = played(all, o);
  for (std::size_t k = 0; k < all.size(); ++k) {
    this->compare(all[k], got[k], o, host_array<V>(firsts[k].x));
    const auto before = kit::true_residual(all[k].a, as_cview(all[k].b), as_cview(firsts[k].x));
    const auto after = kit::true_residual(all[k].a, as_cview(all[k].b), as_cview(short_runs[k].x));
    EXPECT_LE(after.norm, before.norm * (1 + 1e-6L));
  }
}

/// More than fit a launch, in several groups, with one that takes many launches.
TYPED_TEST(small_system_test, is_one_of_many) {
  using V = TypeParam;
  std::vector<owned<V>> all;
  for (int k = 0; k < 97; ++k)
    all.emplace_back(k == 40 ? generate("poisson1d:300").a : kit::laplacian(3 + k % 9, 4), k);
  const auto o = this->options("cg", "none");
  const auto got = played(all, o, false, hopper, 60'000);
  for (std::size_t k = 0; k < all.size(); ++k) this->compare(all[k], got[k], o);
  EXPECT_GT(got[40].outcome->report.waits, 1);
}

TEST(together, solves_b_of_zeros_without_a_step) {
  std::vector<owned<double>> all;
  all.emplace_back(kit::laplacian(4, 4), host_array<double>(16, 0.0));
  all.emplace_back(kit::laplacian(4, 4), 2);
  std::fill(all[0].x.begin(), all[0].x.end(), 3.0);
  const auto got = played(all, with("jacobi"));
  EXPECT_EQ(got[0].outcome->report.message, "b is zero, so x is zero");
  EXPECT_EQ(all[0].x[5], 0);
  EXPECT_EQ(got[1].outcome->report.why, status::converged);
}

TEST(together, does_not_take_twice_the_digits_for_exact) {
  // The first row's residual is -3; beside 1e40 / 3 and what its rounding leaves, twice the digits find 0.
  const double third = 1.0 / 3;
  std::vector<owned<double>> all;
  for (int k = 0; k < 2; ++k) {
    all.emplace_back(kit::assemble({3, 3}, {{0, 0, 1e40}, {0, 1, 1}, {0, 2, -1e40}, {1, 1, 1}, {2, 2, 1}}),
                     host_array<double>{0, 3, third});
    all.back().x = host_array<double>{third, 3, third};
  }
  const auto got = played(all, kit::options("bicgstab", "jacobi", 1e-10));
  for (std::size_t k = 0; k < all.size(); ++k) {
    ASSERT_TRUE(got[k].outcome) << got[k].alone;
    if (got[k].outcome->report.why != status::converged) continue;
    const auto truth = kit::true_residual(all[k].a, as_cview(all[k].b), as_cview(all[k].x));
    EXPECT_LE(truth.norm, 1e-9L * truth.norm_b) << got[k].outcome->report.message;
  }
}

TEST(together, leaves_to_a_solve_by_itself_what_no_launch_serves) {
  std::vector<owned<double>> all;
  all.emplace_back(generate("convection2d:6:9").a, 2);
  all.emplace_back(generate("poisson1d:8000").a, 2);
  all.emplace_back(kit::laplacian(4, 4), host_array<double>(16, nan));
  all.emplace_back(kit::laplacian(4, 4), host_array<double>(16, 1e200));
  all.emplace_back(kit::laplacian(4, 4), host_array<double>(15, 1.0));
  all.emplace_back(generate("rectangular:30:10:4").a, 2);
  all.emplace_back(kit::diagonal({1, nan, 1}), 2);
  all.emplace_back(kit::diagonal({1, 0, 1}), 2);
  all.emplace_back(kit::assemble({0, 0}, {}), 2);
  all.emplace_back(kit::laplacian(4, 4), 2);
  const char* const why[] = {"not symmetric",        "8000 rows take more",  "vectors are not finite",
                             "squares of b",         "vectors do not fit",   "not square",
                             "matrix is not finite", "refuses its diagonal", "no rows"};
  const auto got = played(all, with("jacobi"));
  for (std::size_t k = 0; k < std::size(why); ++k) {
    EXPECT_FALSE(got[k].outcome);
    EXPECT_TRUE(mentions(got[k].alone, why[k])) << got[k].alone;
  }
  EXPECT_TRUE(got.back().outcome);
  const auto of_all = [&](auto set) {
    auto o = with("jacobi");
    set(o);
    const auto said = played(all, o);
    for (const taken& one : said) EXPECT_FALSE(one.outcome);
    return said.back().alone;
  };
  EXPECT_TRUE(mentions(of_all([](auto& o) { o.solver = "gmres"; }), "gmres"));
  EXPECT_TRUE(mentions(of_all([](auto& o) { o.precond = "ic0"; }), "ic0"));
  EXPECT_TRUE(mentions(of_all([](auto& o) { o.format = "ell"; }), "format"));
  EXPECT_TRUE(mentions(of_all([](auto& o) { o.tune = true; }), "tuned"));
  EXPECT_TRUE(mentions(of_all([](auto& o) { o.values = precision::f32; }), "single precision"));
  EXPECT_TRUE(
      mentions(of_all([](auto& o) { o.monitor = [](const progress&, cview<double>) { return true; }; }), "monitor"));
  EXPECT_TRUE(mentions(of_all([](auto& o) { o.watch_every = 3; }), "single steps"));
}

TEST(together, begins_as_auto_does_and_leaves_to_it_what_goes_on) {
  std::vector<owned<double>> all;
  all.emplace_back(kit::laplacian(9, 9), 2);
  all.emplace_back(kit::laplacian(9, 9), 2);
  for (double& v : all[1].a.val) v = -v;
  all.emplace_back(generate("convection2d:9:9").a, 2);
  all[2].a.val[0] = 0; // on the diagonal: a factorisation
  all.emplace_back(kit::laplacian(12, 12), 2);
  for (index_t k = 0; k < all[3].a.nnz(); ++k)
    if (all[3].a.row[k] == all[3].a.col[k]) all[3].a.val[k] -= 1.03;
  all.emplace_back(generate("convection2d:9:9").a, 2);
  solve_options o;
  const auto got = played(all, o);
  for (const std::size_t k : {0, 1}) {
    ASSERT_TRUE(got[k].outcome) << got[k].alone;
    const solve_report& r = got[k].outcome->report;
    EXPECT_EQ(r.why, status::converged);
    EXPECT_EQ(r.solver, "cg");
    ASSERT_EQ(r.rungs.size(), 1u);
    EXPECT_FALSE(r.untried.empty());
    EXPECT_LE(kit::true_residual(all[k].a, as_cview(all[k].b), as_cview(all[k].x)).norm, 1e-8L * 9);
  }
  EXPECT_TRUE(mentions(got[1].outcome->report.matrix_about, "-A x = -b is solved"));
  EXPECT_TRUE(mentions(got[2].alone, "auto begins with direct and lu")) << got[2].alone;
  EXPECT_TRUE(mentions(got[3].alone, "did not get there")) << got[3].alone;
  for (const double v : all[3].x) EXPECT_EQ(v, 0);
  ASSERT_TRUE(got[4].outcome) << got[4].alone;
  EXPECT_EQ(got[4].outcome->report.solver, "bicgstab");
  EXPECT_EQ(got[4].outcome->report.why, status::converged);
}

TEST(together, stops_between_launches) {
  std::vector<owned<double>> all;
  for (int k = 0; k < 60; ++k) all.emplace_back(generate("poisson1d:500").a, k); // 500 steps each, 128 a launch
  auto o = with("none");
  int asked = 0;
  o.watch = [&](const progress& p) {
    EXPECT_GE(p.seconds, 0);
    EXPECT_EQ(p.iteration, 128);
    return ++asked < 1; // later questions come by the clock
  };
  const auto got = played(all, o);
  int begun = 0, waiting = 0;
  for (const taken& one : got) {
    ASSERT_TRUE(one.outcome);
    if (one.outcome->report.why == status::converged) continue;
    EXPECT_EQ(one.outcome->report.why, status::interrupted);
    (one.outcome->report.message == "interrupted before it began" ? waiting : begun) += 1;
  }
  EXPECT_GT(begun, 0);
  EXPECT_GT(waiting, 0);
  EXPECT_EQ(asked, 1);
}

TEST(together, ends_by_the_clock_with_the_residual_of_each_x) {
  std::vector<owned<double>> all;
  for (int k = 0; k < 30; ++k) all.emplace_back(generate("poisson1d:500").a, k);
  auto o = with("none");
  o.time_limit = 0;
  for (const taken& one : played(all, o)) {
    ASSERT_TRUE(one.outcome);
    EXPECT_EQ(one.outcome->report.why, status::max_iterations);
    EXPECT_TRUE(mentions(one.outcome->report.message, "limit on its time")) << one.outcome->report.message;
    EXPECT_NEAR(one.outcome->report.relative_residual, 1, 1e-12);
  }
}

} // namespace
} // namespace furrow::small_systems
