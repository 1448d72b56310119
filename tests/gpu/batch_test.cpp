// SPDX-License-Identifier: BSD-3-Clause
// Many systems in one launch: docs/batch.md.
#include "on_gpu.hpp"

#include "kit/guarded.hpp"
#include "kit/random.hpp"
#include "kit/solve_check.hpp"

#include <furrow/batch.hpp>
#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
const char* const together = "in one launch with others";

template <class V> struct owned_system {
  explicit owned_system(const coo<double>& from, int seed = 3)
      : wide(from), a(kit::as_precision<V>(from)), row_ptr(a.shape.rows + 1, 0),
        b(kit::random_vector<V>(a.shape.rows, seed)), x(a.shape.cols, V(0)) {
    for (const auto row : a.row) ++row_ptr[row + 1];
    for (index_t r = 0; r < a.shape.rows; ++r) row_ptr[r + 1] += row_ptr[r];
  }
  batch_system<V, std::int32_t> in_place() {
    return {{a.shape, as_cview(row_ptr), as_cview(a.col), as_cview(a.val)}, as_cview(b), as_view(x)};
  }

  coo<double> wide;
  coo<V> a;
  host_array<std::int32_t> row_ptr;
  host_array<V> b, x;
};

template <class V> struct gpu_batch : on_gpu_in<V> {
  static constexpr double rtol = sizeof(V) == 8 ? 1e-10 : 1e-4;
  using systems = std::vector<owned_system<V>>;

  solve_options options(std::string solver, std::string precond = "jacobi") const {
    return this->solving(std::move(solver), std::move(precond), rtol);
  }
  static std::vector<batch_outcome> solve_all(systems& all, const solve_options& o) {
    std::vector<batch_system<V, std::int32_t>> borrowed;
    for (auto& one : all) borrowed.push_back(one.in_place());
    return solve_batch(std::span<const batch_system<V, std::int32_t>>(borrowed), o);
  }
  /// Holds an outcome to the truth, and to a solve by itself.
  static void compare(const owned_system<V>& one, const batch_outcome& got, const solve_options& o) {
    ASSERT_FALSE(got.refused) << got.refused->what();
    const auto alone = kit::solve_honestly<V>(one.wide, one.b, o).report;
    const solve_report& r = got.report;
    EXPECT_EQ(r.why, alone.why) << r.message << "; " << alone.message;
    EXPECT_NEAR(double(r.iterations), double(alone.iterations),
                2 + (sizeof(V) == 8 ? 0.05 : 0.3) * double(alone.iterations));
    const auto truth = kit::true_residual(one.a, as_cview(one.b), as_cview(one.x));
    if (r.why == status::converged) {
      EXPECT_LE(truth.norm, std::max<long double>(o.rtol * truth.norm_b, o.atol) * (1 + 1e-6L)) << r.message;
      EXPECT_EQ(r.history.size(), std::size_t(r.iterations) + 1);
    }
    if (std::isfinite(r.relative_residual) && truth.norm_b > 0) {
      EXPECT_NEAR(r.relative_residual, double(truth.norm / truth.norm_b),
                  double((truth.rounding + 1e-6L * truth.norm) / truth.norm_b));
    }
    if (alone.condition_estimate > 0) {
      EXPECT_NEAR(std::log(r.condition_estimate / alone.condition_estimate), 0, 0.5);
    }
    EXPECT_EQ(r.warning.empty(), alone.warning.empty()) << r.warning << alone.warning;
  }
};
TYPED_TEST_SUITE(gpu_batch, precisions);

TYPED_TEST(gpu_batch, takes_the_steps_of_cg) {
  using V = TypeParam;
  const char* const specs[] = {"poisson1d:1",   "poisson1d:2",   "poisson1d:31", "poisson1d:33",   "poisson2d:5",
                               "poisson2d:22",  "poisson2d:45",  "poisson3d:8",  "elasticity3d:3", "random:60:9",
                               "random:700:40", "stencil3d27:9", "poisson2d:70"};
  for (const char* m : {"jacobi", "none"}) {
    std::vector<owned_system<V>> all;
    for (const char* spec : specs) all.emplace_back(generate(spec).a);
    const auto o = this->options("cg", m);
    const auto got = this->solve_all(all, o);
    for (std::size_t k = 0; k < all.size(); ++k) {
      SCOPED_TRACE(std::string(specs[k]) + ", " + m);
      EXPECT_EQ(got[k].way, together);
      this->compare(all[k], got[k], o);
    }
  }
}

TYPED_TEST(gpu_batch, takes_the_steps_of_bicgstab) {
  using V = TypeParam;
  const char* const specs[] = {"poisson1d:1",        "poisson2d:8",        "convection2d:9:20", "convection2d:20:5",
                               "convection2d:22:40", "convection2d:44:10", "random:50:6",       "convection2d:50:30"};
  for (const char* m : {"jacobi", "none"}) {
    std::vector<owned_system<V>> all;
    for (const char* spec : specs) all.emplace_back(generate(spec).a);
    const auto o = this->options("bicgstab", m);
    const auto got = this->solve_all(all, o);
    for (std::size_t k = 0; k < all.size(); ++k) {
      SCOPED_TRACE(std::string(specs[k]) + ", " + m);
      EXPECT_EQ(got[k].way, together);
      this->compare(all[k], got[k], o);
    }
  }
}

/// More systems than the device runs at a time, in another order and beside others.
TYPED_TEST(gpu_batch, has_the_same_bits_on_every_run_and_beside_any_others) {
  using V = TypeParam;
  for (const char* solver : {"cg", "bicgstab"}) {
    std::vector<owned_system<V>> all;
    for (int k = 0; k < 6000; ++k) all.emplace_back(kit::laplacian(3 + k % 7, 4 + k % 5), k);
    for (const index_t n : {25, 26, 45}) all.emplace_back(kit::laplacian(n, 20), 1);
    std::vector<owned_system<V>> turned(all.rbegin(), all.rend());
    const auto o = this->options(solver);
    const auto first = this->solve_all(all, o), second = this->solve_all(turned, o);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::size_t there = all.size() - 1 - k;
      ASSERT_EQ(first[k].report.why, status::converged) << first[k].report.message;
      ASSERT_EQ(first[k].way, together);
      ASSERT_TRUE(kit::same_bits(as_cview(all[k].x), as_cview(turned[there].x))) << k;
      ASSERT_EQ(first[k].report.history, second[there].report.history) << k;
    }
  }
}

TYPED_TEST(gpu_batch, ends_for_the_reasons_of_a_solve_by_itself) {
  using V = TypeParam;
  auto shifted = kit::laplacian(9, 9); // indefinite with a positive diagonal
  for (index_t k = 0; k < shifted.nnz(); ++k)
    if (shifted.row[k] == shifted.col[k]) shifted.val[k] -= 1.03;
  for (const char* m : {"jacobi", "none"}) {
    std::vector<owned_system<V>> all;
    all.emplace_back(shifted);
    all.emplace_back(kit::laplacian(30, 1, 1, true, 0), 5); // maps constants to zero
    all.emplace_back(kit::diagonal({1, 2, -3, 4}));
    all.emplace_back(kit::laplacian(6, 6));
    all.emplace_back(kit::laplacian(6, 6));
    all.back().b[7] = V(nan);
    all.emplace_back(kit::laplacian(6, 6));
    std::fill(all.back().b.begin(), all.back().b.end(), V(0));
    all.emplace_back(generate("convection2d:9:9").a);
    const auto o = this->options("cg", m);
    const auto got = this->solve_all(all, o);
    for (const std::size_t k : {0, 1, 3, 5}) EXPECT_EQ(got[k].way, together) << k;
    for (const std::size_t k : {0, 1, 2, 3, 5}) {
      SCOPED_TRACE("system " + std::to_string(k) + " with " + m);
      const auto alone = kit::solve_honestly<V>(all[k].wide, all[k].b, o).report;
      EXPECT_EQ(got[k].report.why, alone.why) << got[k].report.message << "; " << alone.message;
    }
    EXPECT_EQ(got[0].report.why, status::not_positive_definite);
    EXPECT_EQ(got[1].report.why, status::singular);
    EXPECT_EQ(got[4].report.why, status::nan);
    EXPECT_EQ(got[5].report.message, "b is zero, so x is zero");
    ASSERT_TRUE(got[6].refused);
    EXPECT_NE(std::string(got[6].refused->what()).find("not symmetric"), std::string::npos);
    EXPECT_NE(got[6].way.find("by itself: it is not symmetric"), std::string::npos) << got[6].way;
  }
}

TYPED_TEST(gpu_batch, stagnates_and_comes_to_its_limits_as_by_itself) {
  using V = TypeParam;
  for (const char* solver : {"cg", "bicgstab"}) {
    std::vector<owned_system<V>> all;
    for (const index_t n : {12, 20, 30}) all.emplace_back(kit::laplacian(n, n));
    auto o = this->options(solver);
    o.rtol = 1e-20;
    for (const batch_outcome& one : this->solve_all(all, o)) {
      EXPECT_EQ(one.report.why, status::stagnated) << one.report.message;
      EXPECT_LT(one.report.relative_residual, sizeof(V) == 8 ? 1e-14 : 1e-5);
    }
    o = this->options(solver);
    all.clear();
    for (const int seed : {1, 2, 3}) all.emplace_back(generate("poisson1d:400").a, seed);
    for (const index_t limit : {1, 5, 130}) { // the last one in its second launch
      o.max_iterations = limit;
      for (auto& one : all) std::fill(one.x.begin(), one.x.end(), V(0));
      const auto got = this->solve_all(all, o);
      for (std::size_t k = 0; k < all.size(); ++k) {
        EXPECT_EQ(got[k].report.why, status::max_iterations) << got[k].report.message;
        EXPECT_EQ(got[k].report.iterations, limit);
        EXPECT_EQ(got[k].way, together);
        this->compare(all[k], got[k], o);
      }
    }
  }
}

TYPED_TEST(gpu_batch, begins_with_the_first_guess) {
  using V = TypeParam;
  std::vector<owned_system<V>> all;
  for (int k = 0; k < 3; ++k) {
    all.emplace_back(kit::laplacian(20, 25), k);
    all.back().x = kit::random_vector<V>(500, 40 + k);
  }
  const auto firsts = all;
  const auto o = this->options("cg");
  const auto got = this->solve_all(all, o);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const auto alone = kit::solve_honestly<V>(all[k].wide, all[k].b, o, host_array<V>(firsts[k].x)).report;
    EXPECT_EQ(got[k].report.why, alone.why);
    EXPECT_NEAR(got[k].report.history[0], alone.history[0], 1e-5 * alone.history[0]);
    EXPECT_NEAR(double(got[k].report.iterations), double(alone.iterations), 5);
  }
}

TYPED_TEST(gpu_batch, begins_as_auto_does) {
  using V = TypeParam;
  std::vector<owned_system<V>> all;
  all.emplace_back(kit::laplacian(9, 9));
  auto negative = kit::laplacian(9, 9);
  for (double& v : negative.val) v = -v;
  all.emplace_back(negative);
  all.emplace_back(generate("convection2d:9:9").a);
  auto o = this->options("auto", "auto");
  const auto got = this->solve_all(all, o);
  for (std::size_t k = 0; k < all.size(); ++k) {
    EXPECT_EQ(got[k].report.why, status::converged) << got[k].report.message;
    EXPECT_LE(kit::true_residual(all[k].a, as_cview(all[k].b), as_cview(all[k].x)).norm,
              (o.rtol + 1e-13) * kit::true_residual(all[k].a, as_cview(all[k].b), as_cview(all[k].x)).norm_b);
  }
  EXPECT_EQ(got[0].way, together);
  EXPECT_EQ(got[1].way, together);
  EXPECT_NE(got[2].way.find("by itself: auto begins with direct"), std::string::npos) << got[2].way;
}

TYPED_TEST(gpu_batch, leaves_what_does_not_fit_to_a_solve_by_itself) {
  using V = TypeParam;
  std::vector<owned_system<V>> all;
  all.emplace_back(generate("poisson2d:130").a); // 16,900 rows
  all.emplace_back(kit::laplacian(9, 9));
  const auto o = this->options("cg");
  const auto got = this->solve_all(all, o);
  EXPECT_NE(got[0].way.find("16900 rows take more than"), std::string::npos) << got[0].way;
  EXPECT_EQ(got[1].way, together);
  for (std::size_t k = 0; k < all.size(); ++k) this->compare(all[k], got[k], o);
}

TYPED_TEST(gpu_batch, stops_between_launches) {
  using V = TypeParam;
  std::vector<owned_system<V>> all;
  for (int k = 0; k < 20000; ++k) all.emplace_back(generate("poisson1d:100").a, k);
  auto o = this->options("cg", "none");
  o.rtol = 1e-20; // a long time
  int asked = 0;
  o.watch = [&](const progress&) { return ++asked < 2; };
  int begun = 0, waiting = 0;
  for (const batch_outcome& one : this->solve_all(all, o)) {
    if (one.report.why == status::interrupted)
      (one.report.message == "interrupted before it began" ? waiting : begun) += 1;
  }
  EXPECT_GT(begun + waiting, 0);
  EXPECT_EQ(asked, 2);
  o.watch = {};
  o.time_limit = 0;
  all.resize(100, owned_system<V>(kit::laplacian(3, 3)));
  for (const batch_outcome& one : this->solve_all(all, o)) {
    EXPECT_EQ(one.report.why, status::max_iterations);
    EXPECT_NE(one.report.message.find("limit on its time"), std::string::npos) << one.report.message;
  }
}

} // namespace
} // namespace furrow
