// SPDX-License-Identifier: BSD-3-Clause
// What ranks find out about the error of an answer, by factors on the first one.
#include "kit/hilbert.hpp"
#include "kit/random.hpp"
#include "kit/ranks_check.hpp"

#include <furrow/generate.hpp>

#include <gtest/gtest.h>

#include <malloc.h>

namespace furrow {
namespace {

/// While it lives, memory that is taken holds no zeros: M_PERTURB of glibc, where the tests run with that.
struct dirty_memory {
#ifdef M_PERTURB
  dirty_memory() { mallopt(M_PERTURB, 165); }
  ~dirty_memory() { mallopt(M_PERTURB, 0); }
#else
  dirty_memory() = default;
#endif
  dirty_memory(const dirty_memory&) = delete;
  dirty_memory& operator=(const dirty_memory&) = delete;
};

TEST(doubt_on_ranks, gathers_the_rows_of_formats_that_leave_zeros_out) {
  const dirty_memory here;
  const coo<double> a = generate("elasticity3d:3").a; // holds zeros
  const auto b = kit::random_vector<double>(a.shape.rows, 2);
  solve_options o;
  const auto one = kit::solve_on_ranks<double>(2, a, b, o);
  ASSERT_GT(one.report().error_estimate, 0);
  for (const char* format : {"dense", "dia:4"}) {
    o.format = format;
    const auto s = kit::solve_on_ranks<double>(2, a, b, o);
    EXPECT_EQ(s.report().why, status::converged) << s.report().message;
    EXPECT_NEAR(s.report().condition_estimate, one.report().condition_estimate, 1e-6 * one.report().condition_estimate);
    EXPECT_LT(s.report().error_estimate, 100 * one.report().error_estimate) << format;
    EXPECT_EQ(s.report().warning, "");
  }
}

/// A unit vector, whose x is large, and one of which the same residual hides as much as x has.
TEST(doubt_on_ranks, holds_each_answer_against_its_own_right_hand_side) {
  const index_t n = 8;
  const coo<double> a = kit::hilbert(n);
  host_array<double> expected(n);
  for (index_t i = 0; i < n; ++i) expected[i] = i % 2 == 0 ? -1 : 1;
  const auto small = kit::times(a, expected);
  run_ranks(2, [&](communicator& c) {
    const index_t first = n * c.rank() / 2, rows = n / 2;
    std::vector<kit::triplet> mine;
    for (index_t k = 0; k < a.nnz(); ++k)
      if (a.row[k] >= first && a.row[k] < first + rows) mine.push_back({a.row[k] - first, a.col[k], a.val[k]});
    solve_options o;
    o.precond = "jacobi";
    solver_on_ranks<double> solver(c, kit::assemble({rows, n}, std::move(mine)), o);
    host_array<double> unit(rows, 0.0), x(rows, 0.0), y(rows, 0.0);
    if (c.rank() == 0) unit[0] = 1;
    const ranks_report one = solver.solve(as_cview(unit), as_view(x));
    EXPECT_EQ(one.report.warning, "");
    const ranks_report other = solver.solve({small.data() + first, rows}, as_view(y));
    EXPECT_EQ(other.report.why, status::converged) << other.report.message;
    EXPECT_GT(other.report.error_estimate, 0.3);
    EXPECT_NE(other.report.warning.find("as complete factors of the matrix say"), std::string::npos)
        << other.report.warning;
    const std::string before = other.report.warning;
    const ranks_report again = solver.solve({small.data() + first, rows}, as_view(y)); // from its own answer
    EXPECT_EQ(again.report.iterations, 0);
    EXPECT_EQ(again.report.warning, before);
  });
}

} // namespace
} // namespace furrow
