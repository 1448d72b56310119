// SPDX-License-Identifier: BSD-3-Clause
#include "rungs.hpp"

#include "features.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/ranks_check.hpp"
#include "report_bytes.hpp"

#include <furrow/generate.hpp>
#include <furrow/stats.hpp>

#include <gtest/gtest.h>

namespace furrow {
namespace {

std::string text_of(const std::vector<rank_rung>& rungs) {
  std::string text;
  for (const rank_rung& r : rungs)
    text += (text.empty() ? "" : ", ") + (r.gathers ? "all" : r.solver + " " + r.precond);
  return text;
}

features large(bool symmetric) {
  features f;
  f.rows = 100000, f.nnz = 700000, f.longest_row = 7, f.symmetric = symmetric, f.dominant = 100000, f.diagonals = 99;
  return f;
}

TEST(rungs_of_ranks, take_one_preconditioner_over_all_ranks_before_the_first_one_gathers) {
  EXPECT_EQ(text_of(ladder_of_ranks(large(true), 10, {}, {})), "cg jacobi, cg amg:sa, all, cg local:ic0, cg jacobi");
  EXPECT_TRUE(text_of(ladder_of_ranks(large(false), 10, {}, {}))
                  .starts_with("bicgstab jacobi, bicgstab local:ilu, all, gmres:50 local:ilut"));
  EXPECT_TRUE(text_of(ladder_of_ranks(large(true), 10, {}, {.indefinite = true}))
                  .starts_with("minres jacobi, bicgstab local:ilu, all, "));
  EXPECT_EQ(text_of(ladder_of_ranks(large(true), 10, {}, {.singular = true})), "all");
}

TEST(rungs_of_ranks, gather_where_the_cut_is_large) {
  const auto rungs = ladder_of_ranks(large(true), 200000, {}, {});
  EXPECT_EQ(text_of(rungs), "cg jacobi, all, cg amg:sa, cg local:ic0, cg jacobi");
  EXPECT_EQ(rungs[1].reason, "29 % of the entries couple two ranks, which amg:sa would not see");
}

TEST(rungs_of_ranks, gather_few_rows_behind_a_diagonal) {
  features f = large(true);
  f.rows = f.dominant = 10000, f.nnz = 70000;
  EXPECT_TRUE(text_of(ladder_of_ranks(f, 10, {}, {})).starts_with("cg jacobi, all, cg amg:sa"));
  f.symmetric = false, f.rows = f.dominant = 2000, f.nnz = 14000;
  EXPECT_TRUE(text_of(ladder_of_ranks(f, 10, {}, {})).starts_with("all, bicgstab jacobi"));
}

TEST(rungs_of_ranks, set_multigrid_up_on_gpus_and_other_preconditioners_on_the_host) {
  const device gpu{device::kind::gpu, 0};
  const auto rungs = ladder_of_ranks(large(true), 10, gpu, {}), host = ladder_of_ranks(large(true), 10, {}, {});
  EXPECT_TRUE(text_of(rungs).starts_with("cg jacobi, cg amg:sa, all")) << text_of(rungs);
  EXPECT_LT(rungs[0].outlook, 20 * host[0].outlook);
  EXPECT_EQ(rungs[1].outlook, 20 * host[1].outlook);
  const auto general = ladder_of_ranks(large(false), 10, gpu, {}), there = ladder_of_ranks(large(false), 10, {}, {});
  EXPECT_TRUE(text_of(general).starts_with("bicgstab jacobi, ")) << text_of(general);
  EXPECT_EQ(general[0].outlook, 20 * there[0].outlook);
}

TEST(rungs_of_ranks, take_multigrid_over_ranks_on_any_device) {
  for (const device where : {device{}, device{device::kind::gpu, 0}}) {
    check_runs_on_ranks({"cg", "amg:sa:3", ""}, 2, where);
    EXPECT_THROW(check_runs_on_ranks({"cg", "amg:sa:9", ""}, 2, where), error);
    EXPECT_THROW(check_runs_on_ranks({"cg", "amg", ""}, 2, where), error);
  }
}

TEST(rungs_of_ranks, keep_a_preconditioner_that_was_named) {
  solve_options o;
  o.precond = "local:ic0";
  EXPECT_EQ(text_of(rungs_by_name(o, large(true))),
            "cg local:ic0, minres local:ic0, bicgstab local:ic0, gmres:50 local:ic0");
  o.solver = "idr";
  EXPECT_EQ(text_of(rungs_by_name(o, large(true))), "idr local:ic0");
}

TEST(features_on_ranks, are_those_of_one_rank) {
  auto mixed = kit::laplacian(12, 5);
  mixed.val[0] = -3, mixed.val[7] = 1e9;
  auto tied = kit::laplacian(40, 30); // but for rounding: the order of a sum must not decide
  for (index_t k = 0; k < tied.nnz(); ++k) tied.val[k] *= 1 + double(k % 5) * 1e-15;
  for (const auto& a :
       {generate("convection2d:9:5").a, kit::laplacian(7, 6, 5), kit::diagonal({1, 0, -3, 1e-12}), mixed, tied}) {
    const features one = features_of(a, measure(a), false);
    for (const int ranks : kit::numbers_of_ranks)
      run_ranks(ranks, [&](communicator& c) {
        const index_t n = a.shape.rows, first = n * c.rank() / ranks, last = n * (c.rank() + 1) / ranks;
        std::vector<kit::triplet> mine;
        for (index_t k = 0; k < a.nnz(); ++k)
          if (a.row[k] >= first && a.row[k] < last) mine.push_back({a.row[k] - first, a.col[k], a.val[k]});
        const auto rows = take_apart_rows(c, kit::assemble({last - first, n}, std::move(mine)));
        const features f = features_on_ranks(c, rows, one.symmetric);
        EXPECT_EQ(f.rows, one.rows);
        EXPECT_EQ(f.nnz, one.nnz);
        EXPECT_EQ(f.longest_row, one.longest_row);
        EXPECT_EQ(f.zero_diagonal, one.zero_diagonal);
        EXPECT_EQ(f.negative_diagonal, one.negative_diagonal);
        EXPECT_EQ(f.small_diagonal, one.small_diagonal);
        EXPECT_EQ(f.dominant, one.dominant);
        EXPECT_EQ(f.scales, one.scales);
        EXPECT_EQ(f.diagonals, one.diagonals);
      });
  }
}

TEST(report_of_first, arrives_whole) {
  const auto a = kit::laplacian(2500);
  const auto b = kit::random_vector<double>(2500, 3);
  host_array<double> x(2500, 0.0);
  const solve_report sent = solve(coo<double>(a), as_cview(b), as_view(x), {});
  const std::string bytes = bytes_of_report(sent);
  const solve_report came = report_of_bytes(bytes);
  EXPECT_EQ(bytes_of_report(came), bytes);
  EXPECT_EQ(came.message, sent.message);
  EXPECT_EQ(came.why, sent.why);
  EXPECT_EQ(came.history, sent.history);
  EXPECT_EQ(came.untried, sent.untried);
  EXPECT_EQ(came.error_estimate, sent.error_estimate);
  EXPECT_EQ(came.factor_entries, sent.factor_entries);
  ASSERT_EQ(came.rungs.size(), 2u);
  EXPECT_EQ(came.rungs[1].reason, sent.rungs[1].reason);
  EXPECT_EQ(came.rungs[0].iterations, sent.rungs[0].iterations);
  EXPECT_EQ(came.setup_parts.size(), sent.setup_parts.size());
}

} // namespace
} // namespace furrow
