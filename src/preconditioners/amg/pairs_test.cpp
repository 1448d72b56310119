// SPDX-License-Identifier: BSD-3-Clause
#include "preconditioners/amg/amg_test_kit.hpp"
#include "preconditioners/amg/multigrid.hpp"
#include "preconditioners/amg/pairs.hpp"
#include "preconditioners/amg/setup.hpp"
#include "preconditioners/entry.hpp"

#include <furrow/generate.hpp>

#include "kit/cycle_check.hpp"
#include "kit/matrices.hpp"
#include "kit/options.hpp"
#include "kit/said_by.hpp"
#include "kit/solve_check.hpp"

#include <cstring>
#include <map>
#include <set>

namespace furrow::amg {
namespace {

/// A graph's Laplacian with weights of 1 to 9, `shift` on its diagonal, and a row without couplings now and then.
coo<double> graph(index_t n, double shift = 0) {
  kit::splitmix random(5);
  std::map<std::pair<index_t, index_t>, double> weight;
  for (index_t i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) {
      const index_t j = random.below(n);
      if (i != j && i % 50 != 7 && j % 50 != 7) weight[{std::min(i, j), std::max(i, j)}] = double(1 + random.below(9));
    }
  std::vector<kit::triplet> e;
  for (index_t i = 0; i < n; ++i) e.push_back({i, i, shift + (i % 50 == 7 ? 1 : 0)});
  for (const auto& [at, w] : weight) {
    const auto [i, j] = at;
    e.push_back({i, j, -w}), e.push_back({j, i, -w}), e.push_back({i, i, w}), e.push_back({j, j, w});
  }
  return kit::assemble({n, n}, std::move(e));
}

TEST(amg_pairs, are_a_partition_of_the_coupled_rows_into_connected_pairs_and_a_few_more) {
  for (const auto& a : {kit::laplacian(23, 19), kit::laplacian(9, 8, 7), graph(700)}) {
    const auto rows = rows_of(a);
    const aggregates g = pairs_of(rows.view(), alone::left_out);
    std::vector<std::set<index_t>> members(static_cast<std::size_t>(g.count));
    for (index_t i = 0; i < rows.shape.rows; ++i) {
      const bool coupled = rows.row_ptr[i + 1] - rows.row_ptr[i] > 1;
      ASSERT_EQ(g.of[i] >= 0, coupled) << i;
      if (coupled) members[static_cast<std::size_t>(g.of[i])].insert(i);
    }
    for (const auto& m : members) {
      ASSERT_FALSE(m.empty());
      for (const index_t i : m) {
        bool touches = m.size() == 1;
        for (index_t k = rows.row_ptr[i]; k < rows.row_ptr[i + 1]; ++k)
          touches = touches || (rows.col[k] != i && m.contains(rows.col[k]));
        EXPECT_TRUE(touches) << i;
      }
    }
    EXPECT_LE(double(g.count), 0.52 * double(rows.shape.rows));
  }
}

TEST(amg_pairs, take_the_heaviest_coupling_and_none_that_is_positive) {
  // 0 - 1 weak, 1 - 2 strong, 2 - 3 weak, 3 - 4 positive: (1, 2); 0 joins it, 3 too, 4 is alone.
  const auto a = rows_of(kit::assemble({5, 5}, {{0, 0, 2},
                                                {1, 1, 2},
                                                {2, 2, 2},
                                                {3, 3, 2},
                                                {4, 4, 2},
                                                {0, 1, -0.1},
                                                {1, 0, -0.1},
                                                {1, 2, -1},
                                                {2, 1, -1},
                                                {2, 3, -0.2},
                                                {3, 2, -0.2},
                                                {3, 4, 1},
                                                {4, 3, 1}}));
  const aggregates g = pairs_of(a.view(), alone::left_out);
  EXPECT_EQ(std::vector<std::int32_t>(g.of.begin(), g.of.end()), (std::vector<std::int32_t>{0, 0, 0, 0, -1}));
  EXPECT_EQ(pairs_of(a.view(), alone::kept).of[4], 1);
}

TEST(amg_pairs, have_the_matrix_of_their_sums_for_every_number_of_threads) {
  for (const auto& a : {kit::laplacian(40, 31), graph(2000, 0.01)}) {
    const auto rows = rows_of(a);
    paired first;
    for (const int threads : {1, 2, 6}) {
      set_threads(threads);
      paired p = three_times_pairs(rows.view());
      if (threads == 1) first = std::move(p);
      else {
        EXPECT_TRUE(std::ranges::equal(p.of_rows.of, first.of_rows.of));
        EXPECT_TRUE(std::ranges::equal(p.coarse.val, first.coarse.val) &&
                    std::ranges::equal(p.coarse.col, first.coarse.col));
      }
    }
    set_threads(0);
    EXPECT_LT(double(first.of_rows.count), 0.2 * double(rows.shape.rows));
    std::map<std::pair<index_t, index_t>, std::pair<long double, long double>> truth;
    for (index_t i = 0; i < rows.shape.rows; ++i)
      for (index_t k = rows.row_ptr[i]; k < rows.row_ptr[i + 1]; ++k) {
        const index_t r = first.of_rows.of[i], c = first.of_rows.of[rows.col[k]];
        if (r < 0 || c < 0) continue;
        truth[{r, c}].first += rows.val[k], truth[{r, c}].second += std::abs(rows.val[k]);
      }
    ASSERT_EQ(first.coarse.nnz(), static_cast<index_t>(truth.size()));
    for (index_t i = 0; i < first.coarse.shape.rows; ++i)
      for (index_t k = first.coarse.row_ptr[i]; k < first.coarse.row_ptr[i + 1]; ++k) {
        const auto& [sum, size] = truth.at({i, first.coarse.col[k]});
        ASSERT_LE(std::abs(first.coarse.val[k] - sum), 1e-14L * size);
      }
  }
}

index_t iterations(const coo<double>& a, const char* precond, double rtol = 1e-8) {
  solve_options o;
  o.precond = precond;
  o.rtol = rtol;
  const host_array<double> ones(a.shape.rows, 1.0);
  const auto [report, x] = kit::solve_honestly<double>(a, ones, o);
  EXPECT_EQ(report.why, status::converged) << precond << ": " << report.message;
  EXPECT_EQ(report.solver, "fcg") << precond;
  return report.iterations;
}

TEST(amg_pairwise, takes_iterations_that_hardly_grow) {
  EXPECT_LE(iterations(kit::laplacian(24, 24, 24), "amg:pairwise"), 23);
  EXPECT_LE(iterations(kit::laplacian(40, 40, 40), "amg:pairwise"), 25);
  EXPECT_LE(iterations(kit::laplacian(40, 40, 40), "amg:pairwise:2"), 21);
  EXPECT_LE(iterations(graph(5000, 0.01), "amg:pairwise"), 30);
}

TEST(amg_pairwise, is_refused_by_methods_that_take_a_preconditioner_for_the_same_in_each_step) {
  const auto a = kit::laplacian(30, 30);
  const host_array<double> b(900, 1.0);
  for (const char* const solver : {"cg", "minres", "bicgstab", "gmres", "cr", "block_cg", "idr"}) {
    host_array<double> x(900, 0.0);
    kit::expect_refusal(fault::usage, "take fcg or fgmres",
                        [&] { solve(coo<double>(a), as_cview(b), as_view(x), kit::options(solver, "amg:pairwise")); });
  }
  for (const char* const solver : {"fcg", "fgmres", "auto"}) {
    EXPECT_EQ(kit::solve_honestly<double>(a, b, kit::options(solver, "amg:pairwise")).report.why, status::converged)
        << solver;
  }
}

TEST(amg_pairwise, has_the_same_bits_for_every_number_of_threads_and_takes_any_scale) {
  const auto a = kit::laplacian(30, 31, 9);
  constexpr solver_needs flexible{.a = {true, true}, .m = {true, true}, .flexible = true};
  const auto r = kit::random_vector<double>(a.shape.rows, 1);
  host_array<double> first;
  for (const int threads : {1, 2, 5}) {
    set_threads(threads);
    const auto z = kit::applied(*make_preconditioner<double>("amg:pairwise", a, device{}, flexible), r);
    if (first.empty()) first = z;
    EXPECT_EQ(std::memcmp(z.data(), first.data(), z.byte_count()), 0) << threads;
  }
  set_threads(0);
  EXPECT_GT(kit::dot(r, first), 0);
  auto small = a;
  for (double& v : small.val) v *= 1e-200;
  EXPECT_LE(iterations(small, "amg:pairwise"), iterations(a, "amg:pairwise") + 1);
  host_array<double> zero(a.shape.rows, 0.0);
  for (const double v : kit::applied(*make_preconditioner<double>("amg:pairwise", a, device{}, flexible), zero))
    ASSERT_EQ(v, 0);
}

TEST(amg_pairwise, solves_singular_consistent_systems) {
  const auto a = graph(4000);
  const auto b = kit::times(a, kit::random_vector<double>(4000, 4));
  solve_options o;
  o.precond = "amg:pairwise";
  EXPECT_EQ(kit::solve_honestly<double>(a, b, o).report.why, status::converged);
}

TEST(amg_cycle, with_inner_steps_reduces_an_error_more_than_without) {
  const auto a = kit::laplacian(160, 150);
  const auto rows = rows_of(a);
  const auto h = pairwise_aggregation<double>(rows.view());
  ASSERT_GE(h.levels.size(), 3);
  const auto left = [&](std::size_t inner) { // of the error in the norm of A, after 20 cycles
    multigrid_cycle<double> cycle(h, 1, inner);
    auto x = kit::random_vector<double>(a.shape.rows, 1);
    double first = 0, last = 0;
    for (int step = 0; step < 20; ++step) {
      const auto r = kit::times(a, x);
      last = std::sqrt(kit::dot(x, r));
      if (step == 0) first = last;
      for (index_t i = 0; i < x.size(); ++i) cycle.b()[i] = r[i] * h.scale;
      cycle.run();
      for (index_t i = 0; i < x.size(); ++i) x[i] -= cycle.x()[i];
    }
    return last / first;
  };
  EXPECT_LT(left(2), 0.7 * left(0));
}

} // namespace
} // namespace furrow::amg
