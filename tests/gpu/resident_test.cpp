// SPDX-License-Identifier: BSD-3-Clause
// Methods on the chip: docs/conjugate-gradients.md, docs/bicgstab.md.
#include "on_gpu.hpp"

#include "solvers/cg_resident/cg_resident.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/said_by.hpp"
#include "kit/solve_check.hpp"

#include <furrow/error.hpp>
#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>
#include <vector>

namespace furrow {
namespace {

template <class V> struct gpu_resident : on_gpu_in<V> {
  solve_options options(std::string precond, double rtol = sizeof(V) == 8 ? 1e-10 : 1e-4) const {
    return this->solving("cg_resident", std::move(precond), rtol);
  }
};
TYPED_TEST_SUITE(gpu_resident, precisions);

/// Systems of each kind of block: a row a thread and several, matrix in registers, in shared memory and outside, a
/// block alone, halos from the whole matrix, and more of them than threads read at once.
const char* const systems[] = {"poisson1d:1",    "poisson2d:2",   "poisson1d:40",   "poisson3d:12",
                               "poisson2d:100",  "poisson3d:32",  "poisson3d:48",   "poisson3d:60",
                               "random:3000:9",  "random:9000:3", "stencil3d27:20", "anisotropic2d:60:9",
                               "elasticity3d:8", "random:700:300"};

TYPED_TEST(gpu_resident, takes_the_steps_of_cg_with_the_same_bits_each_time) {
  using V = TypeParam;
  for (const char* spec : systems)
    for (const char* m : {"none", "jacobi"}) {
      SCOPED_TRACE(std::string(spec) + ", " + m);
      const auto a = generate(spec).a;
      const auto b = kit::random_vector<V>(a.shape.rows, 2);
      auto o = this->options(m);
      const auto first = kit::solve_honestly<V>(a, b, o), again = kit::solve_honestly<V>(a, b, o);
      EXPECT_TRUE(kit::same_bits(as_cview(first.x), as_cview(again.x)));
      EXPECT_EQ(first.report.history, again.report.history);
      EXPECT_EQ(first.report.solver, "cg_resident");
      o.solver = "cg";
      const auto usual = kit::solve_honestly<V>(a, b, o);
      EXPECT_EQ(first.report.why, usual.report.why) << first.report.message << "; " << usual.report.message;
      EXPECT_NEAR(double(first.report.iterations), double(usual.report.iterations),
                  2 + (sizeof(V) == 8 ? 0.05 : 0.3) * double(usual.report.iterations));
      if (usual.report.condition_estimate > 0) {
        EXPECT_NEAR(std::log(first.report.condition_estimate / usual.report.condition_estimate), 0, 0.5);
      }
    }
}

/// Whatever the chunks that a monitor cuts the steps into.
template <class V> void has_the_bits_of_one_chunk(const coo<double>& a, solve_options o) {
  const auto b = kit::random_vector<V>(a.shape.rows, 5);
  const auto whole = kit::solve_honestly<V>(a, b, o);
  for (const index_t every : {1, 3, 7}) {
    o.monitor_every = every;
    o.monitor = [](const progress&, cview<double>) { return true; };
    const auto cut = kit::solve_honestly<V>(a, b, o);
    EXPECT_EQ(cut.report.iterations, whole.report.iterations) << every;
    EXPECT_TRUE(kit::same_bits(as_cview(cut.x), as_cview(whole.x))) << every;
    EXPECT_EQ(cut.report.history, whole.report.history) << every;
  }
}
template <class V> void stops_at_limits(const coo<double>& a, const host_array<V>& b, solve_options o) {
  for (const index_t limit : {1, 5}) {
    o.max_iterations = limit;
    const auto r = kit::solve_honestly<V>(a, b, o).report;
    EXPECT_EQ(r.why, status::max_iterations) << r.message;
    EXPECT_EQ(r.iterations, limit);
  }
}

/// Also of systems whose rows are no multiple of the blocks.
template <class V> void applies(const gpu_resident<V>& test, std::initializer_list<const char*> preconditioners) {
  for (const char* spec : {"poisson1d:1", "poisson1d:40", "poisson3d:12", "poisson3d:32", "poisson3d:48",
                           "random:9000:3", "stencil3d27:20", "anisotropic2d:60:9", "elasticity3d:8"})
    for (const char* m : preconditioners) {
      SCOPED_TRACE(std::string(spec) + ", " + m);
      const auto a = generate(spec).a;
      const auto b = kit::random_vector<V>(a.shape.rows, 2);
      auto o = test.options(m);
      const auto first = kit::solve_honestly<V>(a, b, o), again = kit::solve_honestly<V>(a, b, o);
      EXPECT_TRUE(kit::same_bits(as_cview(first.x), as_cview(again.x)));
      o.solver = "cg";
      const auto usual = kit::solve_honestly<V>(a, b, o);
      EXPECT_EQ(first.report.why, usual.report.why) << first.report.message << "; " << usual.report.message;
      EXPECT_NEAR(double(first.report.iterations), double(usual.report.iterations),
                  2 + (sizeof(V) == 8 ? 0.05 : 0.3) * double(usual.report.iterations));
      if (first.report.history.size() > 3) {
        EXPECT_NEAR(first.report.history[3], usual.report.history[3],
                    (sizeof(V) == 8 ? 1e-8 : 1e-2) * usual.report.history[3]);
      }
    }
}
TYPED_TEST(gpu_resident, applies_polynomials_with_the_same_bits_each_time) {
  applies(*this, {"chebyshev:1", "chebyshev:2", "chebyshev", "chebyshev:16"});
}
TYPED_TEST(gpu_resident, applies_blocks_with_the_same_bits_each_time) {
  applies(*this, {"block_jacobi", "block_jacobi:3", "block_jacobi:40"});
}

TYPED_TEST(gpu_resident, has_the_bits_of_one_chunk_in_many) {
  using V = TypeParam;
  const auto a = generate("poisson3d:20").a;
  has_the_bits_of_one_chunk<V>(a, this->options("jacobi"));
}

TYPED_TEST(gpu_resident, stops_for_the_reasons_of_cg) {
  using V = TypeParam;
  const host_array<V> ones(4, V(1));
  const auto reason = [&](const coo<double>& a, const host_array<V>& b, const solve_options& o) {
    return kit::solve_honestly<V>(a, b, o).report.why;
  };
  EXPECT_EQ(reason(kit::diagonal({1, 2, -3, 4}), ones, this->options("none")), status::not_positive_definite);
  EXPECT_EQ(reason(kit::diagonal({1, 2, -3, 4}), ones, this->options("jacobi")), status::not_positive_definite);
  EXPECT_EQ(reason(kit::diagonal({1, -1, 1, -1}), ones, this->options("none")), status::singular);
  EXPECT_EQ(reason(kit::assemble({4, 4}, {}), ones, this->options("none")), status::singular);
  EXPECT_EQ(reason(kit::diagonal({1, std::nan(""), 1, 1}), ones, this->options("none")), status::nan);
  EXPECT_EQ(reason(kit::diagonal({1, 2, 3, 4}), host_array<V>(4, V(0)), this->options("none")), status::converged);
  EXPECT_EQ(reason(kit::assemble({0, 0}, {}), {}, this->options("none")), status::converged);
  const auto a = kit::laplacian(30, 30);
  const auto b = kit::random_vector<V>(900, 3);
  EXPECT_EQ(reason(a, b, this->options("jacobi", 1e-20)), status::stagnated);
  stops_at_limits(a, b, this->options("none"));
}

TYPED_TEST(gpu_resident, can_be_stopped_between_chunks) {
  using V = TypeParam;
  const auto a = kit::laplacian(3000);
  const auto b = kit::random_vector<V>(3000, 4);
  auto o = this->options("none", 1e-30);
  o.watch = [](const progress& p) { return p.iteration < 600; };
  EXPECT_EQ(kit::solve_honestly<V>(a, b, o).report.why, status::interrupted);
  o.watch = {};
  o.time_limit = 1e-6;
  EXPECT_EQ(kit::solve_honestly<V>(a, b, o).report.why, status::max_iterations);
}

TYPED_TEST(gpu_resident, begins_where_x_is) {
  using V = TypeParam;
  const auto a = generate("poisson3d:16").a;
  const auto expected = kit::random_vector<V>(a.shape.rows, 1);
  const auto b = kit::times(a, expected);
  auto o = this->options("jacobi");
  const auto s = kit::solve_honestly<V>(a, b, o, host_array<V>(expected));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
  EXPECT_LE(s.report.iterations, sizeof(V) == 8 ? 0 : 2);
}

TYPED_TEST(gpu_resident, keeps_its_set_up_and_takes_vectors_where_they_lie) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(generate("poisson3d:20").a);
  solver<V> kept(coo<V>(a), this->options("jacobi"));
  const auto b = kit::random_vector<V>(a.shape.rows, 1);
  host_array<V> x(b.size(), V(0));
  EXPECT_EQ(kept.solve(as_cview(b), as_view(x)).why, status::converged);
  const gpu_array<V> there_b(b);
  for (int repeat = 0; repeat < 20; ++repeat) { // words of the solve before are there
    gpu_array<V> there_x(host_array<V>(b.size(), V(0)));
    const auto next = kept.solve(as_cview(there_b), as_view(there_x));
    EXPECT_EQ(next.why, status::converged) << next.message;
    EXPECT_EQ(next.setup_seconds, 0);
    EXPECT_TRUE(kit::same_bits(as_cview(x), as_cview(host_array<V>(there_x))));
  }
}

template <class V> struct gpu_resident_bicgstab : on_gpu_in<V> {
  solve_options options(std::string precond, double rtol = sizeof(V) == 8 ? 1e-10 : 1e-4) const {
    return this->solving("bicgstab_resident", std::move(precond), rtol);
  }
};
TYPED_TEST_SUITE(gpu_resident_bicgstab, precisions);

/// As above, with rows that need others' elements where these need none of theirs.
const char* const matrices[] = {"poisson1d:1",        "poisson1d:40",       "convection2d:8:5", "convection2d:40:20",
                                "convection2d:100:3", "convection2d:200:9", "poisson3d:12",     "poisson3d:40",
                                "random:3000:9",      "random:9000:3",      "random:700:300"};

TYPED_TEST(gpu_resident_bicgstab, takes_the_steps_of_bicgstab_with_the_same_bits_each_time) {
  using V = TypeParam;
  for (const char* spec : matrices)
    for (const char* m : {"none", "jacobi"}) {
      SCOPED_TRACE(std::string(spec) + ", " + m);
      const auto a = generate(spec).a;
      const auto b = kit::random_vector<V>(a.shape.rows, 2);
      auto o = this->options(m);
      const auto first = kit::solve_honestly<V>(a, b, o), again = kit::solve_honestly<V>(a, b, o);
      EXPECT_TRUE(kit::same_bits(as_cview(first.x), as_cview(again.x)));
      EXPECT_EQ(first.report.history, again.report.history);
      EXPECT_EQ(first.report.solver, "bicgstab_resident");
      o.solver = "bicgstab";
      const auto usual = kit::solve_honestly<V>(a, b, o);
      EXPECT_EQ(first.report.why, usual.report.why) << first.report.message << "; " << usual.report.message;
      EXPECT_NEAR(double(first.report.iterations), double(usual.report.iterations),
                  4 + 0.35 * double(usual.report.iterations));
      const auto steps = std::min<std::size_t>({first.report.history.size(), usual.report.history.size(), 4});
      for (std::size_t k = 0; k < steps; ++k)
        EXPECT_NEAR(first.report.history[k], usual.report.history[k],
                    (sizeof(V) == 8 ? 1e-6 : 1e-2) * usual.report.history[k])
            << k;
    }
}

TYPED_TEST(gpu_resident_bicgstab, has_the_bits_of_one_chunk_in_many) {
  using V = TypeParam;
  const auto a = generate("convection2d:60:20").a;
  has_the_bits_of_one_chunk<V>(a, this->options("jacobi"));
}

TYPED_TEST(gpu_resident_bicgstab, stops_for_the_reasons_of_bicgstab) {
  using V = TypeParam;
  const auto ones = [](index_t n) { return host_array<V>(n, V(1)); };
  const auto reason = [&](const coo<double>& a, const host_array<V>& b, const solve_options& o) {
    return kit::solve_honestly<V>(a, b, o).report.why;
  };
  const auto rotation = kit::assemble({2, 2}, {{0, 1, 1}, {1, 0, -1}}); // r~'A r~ = 0 for every r~
  for (const auto& [a, b] : {std::pair{rotation, ones(2)},
                             {kit::assemble({4, 4}, {}), ones(4)},
                             {kit::diagonal({1, std::nan(""), 1, 1}), ones(4)},
                             {kit::diagonal({1, 2, 3, 4}), host_array<V>(4, V(0))},
                             {kit::diagonal({1, -1, 1, -1}), ones(4)}}) {
    auto o = this->options("none");
    const auto mine = reason(a, b, o);
    o.solver = "bicgstab";
    EXPECT_EQ(mine, reason(a, b, o));
  }
  const auto a = generate("convection2d:30:20").a;
  const auto b = kit::random_vector<V>(900, 3);
  EXPECT_EQ(reason(a, b, this->options("jacobi", 1e-20)), status::stagnated);
  stops_at_limits(a, b, this->options("none"));
}

TYPED_TEST(gpu_resident_bicgstab, works_residuals_behind_humps_out_anew_and_keeps_its_set_up) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(generate("convection2d:100:50").a); // residuals climb first
  solver<V> kept(coo<V>(a), this->options("none"));
  const auto b = kit::random_vector<V>(a.shape.rows, 1);
  host_array<V> x(b.size(), V(0));
  EXPECT_EQ(kept.solve(as_cview(b), as_view(x)).why, status::converged);
  const gpu_array<V> there_b(b);
  for (int repeat = 0; repeat < 10; ++repeat) {
    gpu_array<V> there_x(host_array<V>(b.size(), V(0)));
    const auto next = kept.solve(as_cview(there_b), as_view(there_x));
    EXPECT_EQ(next.why, status::converged) << next.message;
    EXPECT_TRUE(kit::same_bits(as_cview(x), as_cview(host_array<V>(there_x))));
  }
}

struct gpu_resident_entry : on_gpu_in<double> {
  solve_options options(std::string solver) const {
    solve_options o;
    o.where = gpu;
    o.solver = std::move(solver);
    return o;
  }
  /// Why it cannot be set up; empty where it can.
  std::string refused(const coo<double>& a, const solve_options& o) const {
    return kit::said_by([&] { const solver<double> s(coo<double>(a), o); });
  }
};

TEST_F(gpu_resident_entry, says_what_does_not_fit_and_solves_what_does) {
  const resident::chip c = resident::chip_of(gpu);
  index_t fits = 40, too_large = 140;
  while (too_large - fits > 1) { // the sides of a cube
    const index_t side = (fits + too_large) / 2;
    const auto a = generate("poisson3d:" + std::to_string(side)).a;
    const std::string why = refused(a, options("cg_resident"));
    if (why.empty()) fits = side;
    else too_large = side;
    if (!why.empty()) {
      EXPECT_NE(why.find("do not fit"), std::string::npos) << why;
    }
  }
  ASSERT_GT(fits, 40) << c.blocks << " blocks of " << c.block_bytes;
  const auto a = generate("poisson3d:" + std::to_string(fits)).a;
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  const auto s = kit::solve_honestly<double>(a, b, options("cg_resident"));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
}

TEST_F(gpu_resident_entry, of_bicgstab_says_what_does_not_fit_and_solves_what_does) {
  index_t fits = 60, too_large = 1200;
  while (too_large - fits > 8) {
    const index_t side = (fits + too_large) / 2;
    const std::string why =
        refused(generate("convection2d:" + std::to_string(side) + ":5").a, options("bicgstab_resident"));
    (why.empty() ? fits : too_large) = side;
    if (!why.empty()) {
      EXPECT_NE(why.find("do not fit"), std::string::npos) << why;
    }
  }
  ASSERT_GT(fits, 200);
  const auto a = generate("convection2d:" + std::to_string(fits) + ":5").a;
  const auto s =
      kit::solve_honestly<double>(a, kit::random_vector<double>(a.shape.rows, 1), options("bicgstab_resident"));
  EXPECT_EQ(s.report.why, status::converged) << s.report.message;
}

TEST_F(gpu_resident_entry, refuses_what_it_cannot_apply_on_the_chip) {
  const auto a = kit::laplacian(20, 20);
  auto o = options("cg_resident");
  o.precond = "ssor";
  EXPECT_NE(refused(a, o).find("on the chip, where ssor does not fit"), std::string::npos) << refused(a, o);
  o.precond = "chebyshev:17"; // each term has words of its own
  EXPECT_NE(refused(a, o).find("chebyshev with at most 16 terms"), std::string::npos) << refused(a, o);
  o.precond = "jacobi";
  o.where = {};
  EXPECT_NE(refused(a, o).find("no part for the CPU"), std::string::npos) << refused(a, o);
}

TEST_F(gpu_resident_entry, is_the_first_rung_for_what_fits) {
  const auto small = generate("poisson3d:16").a, large = generate("poisson3d:110").a;
  const auto solve_one = [&](const coo<double>& a, solve_options o) {
    return kit::solve_honestly<double>(a, kit::random_vector<double>(a.shape.rows, 1), o).report;
  };
  const auto first = solve_one(small, options("auto"));
  EXPECT_EQ(first.why, status::converged) << first.message;
  EXPECT_EQ(first.solver, "cg_resident");
  auto o = options("auto");
  o.precond = "none";
  EXPECT_EQ(solve_one(small, o).solver, "cg_resident");
  EXPECT_NE(solve_one(large, options("auto")).rungs.front().solver, "cg_resident");
  EXPECT_EQ(solve_one(generate("convection2d:80:5").a, options("auto")).solver, "bicgstab_resident");
  EXPECT_NE(solve_one(generate("convection2d:1000:5").a, options("auto")).rungs.front().solver, "bicgstab_resident");
}

/// Two unknowns that no residual shows: another first guess of the usual method tells.
TEST_F(gpu_resident_entry, is_doubted_as_the_usual_methods_are) {
  const index_t n = 5002; // for factors do it of 3,000
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < n - 2; ++i) entries.push_back({i, i, 2.0}), entries.push_back({i, (i + 1) % (n - 2), -1.0});
  for (const auto& [i, j, v] : {kit::triplet{0, 0, 1.0}, {0, 1, 2.0}, {1, 0, 2.0}, {1, 1, 4.0000001}})
    entries.push_back({n - 2 + i, n - 2 + j, v});
  const auto a = kit::assemble({n, n}, entries);
  const auto b = kit::times(a, host_array<double>(n, 1.0));
  auto o = options("auto");
  o.precond = "jacobi";
  const auto there = kit::solve_honestly<double>(a, b, o).report;
  EXPECT_EQ(there.solver, "bicgstab_resident");
  EXPECT_TRUE(kit::mentions(there.warning, "another first guess")) << there.warning;
}

} // namespace
} // namespace furrow
