// SPDX-License-Identifier: BSD-3-Clause
#include "metis.hpp"

#include "kit/random.hpp"
#include "kit/ranks_check.hpp"
#include "renumber.hpp"

#include <furrow/generate.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace furrow {
namespace {

class metis : public testing::Test {
protected:
  void SetUp() override {
    if (!has_metis()) GTEST_SKIP() << "libmetis.so.5 is not installed";
  }
};

/// A grid whose points are numbered by a hash: contiguous rows cut nearly all of its edges.
coo<double> scattered(const char* spec) {
  const coo<double> a = generate(spec).a;
  const auto key = kit::random_vector<double>(a.shape.rows, 3);
  renumbering to{{0, a.shape.rows}, host_array<std::int32_t>(a.shape.rows)};
  std::iota(to.old_of.begin(), to.old_of.end(), 0);
  std::ranges::sort(to.old_of, {}, [&](std::int32_t i) { return key[i]; });
  return renumbered(a, to);
}

index_t cut_of(const coo<double>& a, const std::vector<int>& part) {
  index_t cut = 0;
  for (index_t k = 0; k < a.nnz(); ++k)
    cut += part[static_cast<std::size_t>(a.row[k])] != part[static_cast<std::size_t>(a.col[k])];
  return cut;
}

TEST_F(metis, parts_have_about_the_same_work_and_few_couplings) {
  for (const char* spec : {"poisson2d:40", "convection2d:40:10"}) {
    const coo<double> a = scattered(spec);
    for (const int parts : {1, 2, 3, 4, 7, 16}) {
      const auto part = metis_parts(a, parts);
      ASSERT_EQ(part.size(), 1600u);
      std::vector<index_t> rows(static_cast<std::size_t>(parts), 0);
      for (const int p : part) ++rows.at(static_cast<std::size_t>(p));
      EXPECT_LT(double(std::ranges::max(rows)), 1.1 * 1600 / parts + 1) << parts;
      // A square of n points has a border of 4 sqrt(n); each of its edges is two entries.
      EXPECT_LE(double(cut_of(a, part)), 4 * std::sqrt(1600.0 * parts)) << spec << " " << parts;
      EXPECT_EQ(part, metis_parts(a, parts));
    }
  }
}

TEST_F(metis, cuts_graphs_that_fall_apart_or_have_no_edges) {
  const auto diagonal = kit::diagonal({1, 2, 3, 4, 5, 6, 7, 8});
  const auto part = metis_parts(diagonal, 3);
  EXPECT_EQ(std::set<int>(part.begin(), part.end()).size(), 3u);
  const auto one_way = kit::assemble({4, 4}, {{0, 0, 1}, {0, 3, 1}, {1, 1, 1}, {2, 2, 1}, {3, 3, 1}});
  EXPECT_EQ(metis_parts(one_way, 2).size(), 4u);
}

TEST(renumbering_of_rows, there_and_back) {
  const auto a = kit::laplacian(7, 5);
  const renumbering to = renumber(
      {2, 0, 1, 0, 2, 1, 0, 2, 0, 1, 1, 0, 2, 0, 1, 0, 2, 1, 0, 2, 0, 1, 1, 0, 2, 0, 1, 0, 2, 1, 0, 2, 0, 1, 1}, 4);
  EXPECT_EQ(to.begins, (std::vector<index_t>{0, 14, 26, 35, 35}));
  const auto b = renumbered(a, to);
  check_triplets(b);
  const auto x = kit::random_vector<double>(35, 2);
  const auto moved = renumbered(as_cview(x), to);
  const auto y = kit::times<double>(a, x), moved_y = kit::times<double>(b, moved);
  host_array<double> back(35);
  put_back(as_cview(moved_y), to, as_view(back));
  for (index_t i = 0; i < 35; ++i) EXPECT_NEAR(back[i], y[i], 1e-14);
}

/// The x of ranks whose rows METIS cut, and the report.
kit::solved_on_ranks<double> solve(int ranks, const coo<double>& a, const host_array<double>& b, const solve_options& o,
                                   partition how) {
  kit::solved_on_ranks<double> result{{}, host_array<double>(b.size(), 0.0)};
  run_ranks(ranks, [&](communicator& c) {
    if (c.rank() == 0) result.on = solve_from_first<double>(c, a, as_cview(b), as_view(result.x), o, how);
    else solve_from_first<double>(c, {}, {}, {}, {});
  });
  return result;
}

TEST_F(metis, ranks_give_x_in_the_order_of_the_caller) {
  struct one {
    const char *matrix, *solver;
  };
  for (const auto& [matrix, solver] : {one{"poisson2d:40", "cg"}, one{"convection2d:40:10", "bicgstab"}}) {
    const coo<double> a = scattered(matrix);
    const auto b = kit::random_vector<double>(a.shape.rows, 1);
    solve_options o;
    o.solver = solver, o.rtol = 1e-10;
    for (const int ranks : kit::numbers_of_ranks) {
      const auto rows = solve(ranks, a, b, o, partition::rows), cut = solve(ranks, a, b, o, partition::metis);
      EXPECT_EQ(cut.report().why, status::converged) << cut.report().message;
      const auto truth = kit::true_residual(a, as_cview(b), as_cview(cut.x));
      EXPECT_LE(truth.norm, 1.001e-10L * truth.norm_b) << matrix << " on " << ranks;
      EXPECT_EQ(rows.on.partition, "rows");
      EXPECT_EQ(cut.on.partition, "metis");
      if (ranks > 1) EXPECT_LT(5 * cut.on.cut(), rows.on.cut()) << matrix << " on " << ranks;
      else EXPECT_EQ(cut.on.cut(), 0);
      EXPECT_TRUE(kit::same_bits(cut.x, solve(ranks, a, b, o, partition::metis).x));
    }
  }
}

TEST_F(metis, monitors_see_x_in_the_order_of_the_caller) {
  const coo<double> a = scattered("poisson2d:30");
  const auto b = kit::random_vector<double>(a.shape.rows, 1);
  solve_options o;
  o.solver = "cg", o.precond = "none", o.monitor_every = 10;
  int told = 0;
  o.monitor = [&](const progress& p, cview<double> x) {
    const auto truth = kit::true_residual(a, as_cview(b), x);
    EXPECT_NEAR(p.relative_residual, double(truth.norm / truth.norm_b), 1e-6 * p.relative_residual);
    return ++told < 100;
  };
  solve(3, a, b, o, partition::metis);
  EXPECT_GT(told, 2);
}

TEST_F(metis, faults_are_named_in_the_numbers_of_the_caller) {
  auto a = generate("poisson2d:10").a;
  a.val[1] = 5; // of A(1, 2)
  const auto b = kit::random_vector<double>(100, 1);
  solve_options o;
  o.solver = "cg";
  try {
    solve(3, a, b, o, partition::metis);
    ADD_FAILURE() << "not refused";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("A(1, 2) = 5 but A(2, 1) = -1"), std::string::npos) << e.what();
  }
}

TEST_F(metis, leaves_a_system_that_is_not_finite_as_it_is) {
  const auto a = scattered("poisson2d:10");
  solve_options o;
  o.solver = "gmres";
  for (const index_t i : {3, 33, 77}) {
    host_array<double> b(100, 1.0);
    b[i] = std::numeric_limits<double>::infinity();
    const auto wrong_b = solve(3, a, b, o, partition::metis);
    EXPECT_EQ(wrong_b.on.partition, "rows");
    EXPECT_TRUE(wrong_b.report().message.ends_with(fmt::format("element {} of b is inf", i + 1)))
        << wrong_b.report().message;
    b[i] = 1;
    auto wrong = a;
    const index_t k = std::ranges::find(a.row, i) - a.row.begin();
    wrong.val[k] = std::nan("");
    EXPECT_EQ(solve(3, wrong, b, o, partition::metis).report().message,
              fmt::format("iteration 0: the matrix holds a NaN in row {}, column {}", i + 1, a.col[k] + 1));
  }
}

TEST_F(metis, says_of_rows_that_they_moved) {
  auto a = scattered("poisson2d:10");
  for (index_t k = 0; k < a.nnz(); ++k)
    if (a.row[k] == 77 && a.col[k] == 77) a.val[k] = 0;
  solve_options o;
  o.solver = "gmres", o.precond = "jacobi";
  const auto refused = solve(3, a, host_array<double>(100, 1.0), o, partition::metis);
  EXPECT_EQ(refused.report().why, status::breakdown);
  EXPECT_TRUE(
      refused.report().message.ends_with("; rows are numbered as METIS moved them: the partition rows keeps yours"))
      << refused.report().message;
}

TEST_F(metis, is_not_asked_where_ranks_have_hardly_any_rows) {
  const auto a = kit::laplacian(11);
  const auto b = kit::random_vector<double>(11, 1);
  const auto few = solve(3, a, b, {}, partition::metis);
  EXPECT_EQ(few.on.partition, "rows");
  EXPECT_EQ(few.report().why, status::converged);
}

} // namespace
} // namespace furrow
