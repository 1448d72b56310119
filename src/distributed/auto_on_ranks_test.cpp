// SPDX-License-Identifier: BSD-3-Clause
// `auto` on ranks: the rungs that they climb together, and those of the first one.
#include "first.hpp"
#include "kit/random.hpp"
#include "kit/ranks_check.hpp"

#include <furrow/generate.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace furrow {
namespace {

constexpr int some_numbers[] = {1, 2, 3, 7};

/// Ones above the diagonal, and one in the corner: incomplete factors want its rows matched with other columns, and the
/// blocks of ranks have rows or columns without entries.
coo<double> ring(index_t n) {
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < n; ++i) entries.push_back({i, (i + 1) % n, 1 + 0.5 * double(i % 7)});
  return kit::assemble({n, n}, std::move(entries));
}

/// A chain without a heavy diagonal that is folded: every tenth row is coupled with the one as far from the end.
/// Complete factors are small; the blocks of ranks lack what is folded.
coo<double> folded_chain(index_t n) {
  const auto random = kit::random_vector<double>(4 * n, 11);
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < n; ++i) {
    entries.push_back({i, i, 0.3 * random[4 * i]});
    if (i + 1 < n)
      entries.push_back({i, i + 1, 1 + 0.2 * random[4 * i + 1]}),
          entries.push_back({i + 1, i, 1 + 0.2 * random[4 * i + 2]});
    if (i % 10 == 0 && i != n - 1 - i) entries.push_back({i, n - 1 - i, 2 * random[4 * i + 3]});
  }
  return kit::assemble({n, n}, std::move(entries));
}

/// While it lives the first rank can gather nothing.
struct no_room {
  no_room() { room_of_first() = 0; }
  no_room(const no_room&) = delete;
  no_room& operator=(const no_room&) = delete;
  ~no_room() { room_of_first() = std::numeric_limits<double>::infinity(); }
};

std::string way_of(const solve_report& r) {
  std::string way;
  for (const solve_rung& one : r.rungs) way += (way.empty() ? "" : ", ") + one.solver + " " + one.precond;
  return way;
}

TEST(auto_on_ranks, has_the_bits_of_one_rank_where_the_first_one_climbs_all) {
  for (const auto& a : {generate("convection2d:15:10").a, ring(300)}) {
    const auto b = kit::random_vector<double>(a.shape.rows, 1);
    const auto one = kit::solve_honestly<double>(a, b);
    for (const int ranks : some_numbers) {
      const auto s = kit::solve_on_ranks<double>(ranks, a, b);
      EXPECT_EQ(s.report().message, one.report.message);
      EXPECT_EQ(way_of(s.report()), way_of(one.report));
      EXPECT_EQ(s.report().error_estimate, one.report.error_estimate);
      EXPECT_EQ(s.report().format, one.report.format);
      EXPECT_TRUE(kit::same_bits(s.x, one.x)) << ranks;
      EXPECT_EQ(s.on.gathered, "direct with lu is for one rank");
      EXPECT_EQ(s.on.rungs_together, 0);
    }
  }
}

TEST(auto_on_ranks, goes_on_at_the_first_rank_where_iterations_are_slow) {
  const auto a = kit::laplacian(2500); // 150 iterations do not do, 2500 would
  const auto b = kit::random_vector<double>(2500, 3);
  const auto one = kit::solve_honestly<double>(a, b);
  for (const int ranks : some_numbers) {
    const auto s = kit::solve_on_ranks<double>(ranks, a, b), again = kit::solve_on_ranks<double>(ranks, a, b);
    EXPECT_EQ(s.report().why, status::converged) << s.report().message;
    EXPECT_EQ(way_of(s.report()), "cg jacobi, direct lu");
    EXPECT_EQ(way_of(s.report()), way_of(one.report));
    EXPECT_EQ(s.on.rungs_together, 1);
    EXPECT_EQ(s.report().rungs[0].iterations, one.report.rungs[0].iterations);
    EXPECT_GT(s.report().error_estimate, 0);
    EXPECT_TRUE(kit::same_bits(s.x, again.x)) << ranks;
  }
}

TEST(auto_on_ranks, gathers_many_rows_where_the_blocks_of_ranks_get_nowhere) {
  const index_t n = 21000; // more than are for one rank behind a diagonal
  const auto a = folded_chain(n);
  const auto b = kit::random_vector<double>(n, 5);
  for (const int ranks : some_numbers) {
    const auto s = kit::solve_on_ranks<double>(ranks, a, b);
    EXPECT_EQ(s.report().why, status::converged) << ranks << ": " << s.report().message;
    ASSERT_GE(s.report().rungs.size(), 2u) << way_of(s.report());
    EXPECT_EQ(s.report().rungs[0].precond, "local:ilu");
    EXPECT_NE(s.report().rungs[0].why, status::converged);
    EXPECT_EQ(s.on.rungs_together, 1) << way_of(s.report());
    EXPECT_EQ(s.on.gathered, "iterations of all ranks are slow");
    const auto again = kit::solve_on_ranks<double>(ranks, a, b);
    EXPECT_TRUE(kit::same_bits(s.x, again.x)) << ranks;
  }
}

TEST(auto_on_ranks, stays_on_all_ranks_where_the_first_has_no_room) {
  const no_room full;
  const auto a = kit::laplacian(2500);
  const auto b = kit::random_vector<double>(2500, 3);
  for (const int ranks : some_numbers) {
    const auto s = kit::solve_on_ranks<double>(ranks, a, b);
    EXPECT_EQ(s.report().why, status::converged) << s.report().message;
    EXPECT_TRUE(s.on.gathered.empty());
    EXPECT_EQ(s.on.rungs_together, index_t(s.report().rungs.size()));
    EXPECT_EQ(s.report().rungs[0].precond, "jacobi");
    EXPECT_EQ(s.report().rungs[1].precond, "amg:sa");
  }
}

TEST(auto_on_ranks, says_that_there_is_no_room_where_nothing_else_gets_there) {
  const no_room full;
  const auto a = folded_chain(4000);
  const auto b = kit::random_vector<double>(4000, 5);
  auto o = solve_options{};
  o.max_iterations = 1000;
  for (const int ranks : {2, 3, 7}) {
    const auto s = kit::solve_on_ranks<double>(ranks, a, b, o);
    EXPECT_NE(s.report().why, status::converged);
    EXPECT_NE(s.report().message.find("; the first rank would need "), std::string::npos) << s.report().message;
    EXPECT_TRUE(s.on.gathered.empty());
  }
}

TEST(auto_on_ranks, solves_for_minus_a) {
  auto a = kit::laplacian(20, 20);
  for (double& v : a.val) v = -v;
  const auto b = kit::random_vector<double>(400, 1);
  for (const int ranks : some_numbers) {
    const auto s = kit::solve_on_ranks<double>(ranks, a, b);
    EXPECT_EQ(s.report().why, status::converged) << s.report().message;
    EXPECT_EQ(s.report().solver, "cg");
    EXPECT_NE(s.report().matrix_about.find("-A x = -b is solved"), std::string::npos) << s.report().matrix_about;
  }
  a = kit::laplacian(2500);
  for (double& v : a.val) v = -v;
  const auto s = kit::solve_on_ranks<double>(3, a, kit::random_vector<double>(2500, 3));
  EXPECT_EQ(way_of(s.report()), "cg jacobi, direct lu");
  EXPECT_EQ(s.report().why, status::converged) << s.report().message;
}

TEST(auto_on_ranks, knows_how_good_an_answer_of_all_ranks_is) {
  const auto convection = generate("convection2d:60:3").a, poisson = generate("poisson2d:30").a;
  for (const auto* a : {&convection, &poisson}) {
    const auto b = kit::random_vector<double>(a->shape.rows, 1);
    const auto one = kit::solve_honestly<double>(*a, b);
    ASSERT_GT(one.report.error_estimate, 0);
    for (const int ranks : some_numbers) {
      const auto s = kit::solve_on_ranks<double>(ranks, *a, b);
      EXPECT_TRUE(s.on.gathered.empty()) << s.on.gathered;
      EXPECT_GT(s.report().error_estimate, 0.01 * one.report.error_estimate) << s.report().solver;
      EXPECT_LT(s.report().error_estimate, 100 * one.report.error_estimate) << s.report().solver;
      EXPECT_EQ(s.report().warning, one.report.warning);
    }
  }
}

TEST(auto_on_ranks, adds_the_rows_of_all_ranks_up) {
  const index_t n = 50;
  const auto a = kit::laplacian(n, n, 1, true, 0);
  const auto b = kit::times(a, kit::random_vector<double>(n * n, 2));
  for (const int ranks : {1, 2, 5}) {
    const auto s = kit::solve_on_ranks<double>(ranks, a, b);
    EXPECT_EQ(s.report().why, status::converged) << s.report().message;
    EXPECT_NE(s.report().warning.find("adds up to zero"), std::string::npos) << ranks << ": " << s.report().warning;
  }
}

TEST(auto_on_ranks, warns_of_an_answer_that_is_one_of_many) { // the last two rows are nearly the same
  const std::vector<kit::triplet> four = {{0, 0, 2}, {0, 1, 1}, {1, 0, -1}, {1, 1, 2},
                                          {2, 2, 1}, {2, 3, 2}, {3, 2, 2},  {3, 3, 4.0000001}};
  for (const index_t more : {0, 300}) {
    std::vector<kit::triplet> entries;
    for (index_t i = 0; i < more; ++i) entries.push_back({i, i, 2}), entries.push_back({i, (i + 1) % more, -1});
    for (const kit::triplet& t : four) entries.push_back({t.row + more, t.col + more, t.value});
    const auto a = kit::assemble({more + 4, more + 4}, entries);
    const auto b = kit::times<double>(a, host_array<double>(more + 4, 1.0));
    solve_options o;
    o.precond = "jacobi";
    for (const int ranks : {1, 2, 4}) {
      const auto s = kit::solve_on_ranks<double>(ranks, a, b, o);
      EXPECT_NE(s.report().warning.find("as complete factors of the matrix say"), std::string::npos)
          << s.report().warning;
      EXPECT_TRUE(s.on.gathered.empty());
    }
  }
}

TEST(auto_on_ranks, obeys_the_first_ranks_watcher_clock_and_monitor_there) {
  const auto a = generate("anisotropic2d:60:0.001").a;
  const auto b = kit::random_vector<double>(a.shape.rows, 3);
  for (const int ranks : {1, 3}) {
    solve_options o;
    const auto here = std::this_thread::get_id();
    std::atomic<int> shown = 0, most = 1 << 20;
    o.monitor = [&](const progress&, cview<double> x) {
      EXPECT_EQ(std::this_thread::get_id(), here);
      EXPECT_EQ(x.size, 3600);
      return ++shown < most;
    };
    const auto told = kit::solve_on_ranks<double>(ranks, a, b, o);
    EXPECT_EQ(way_of(told.report()), "cg jacobi, cg amg");
    EXPECT_EQ(told.on.rungs_together, 1);
    EXPECT_GT(shown, told.report().rungs[0].iterations); // by the rung of the first rank, too
    most = shown - 1, shown = 0;
    const auto stopped = kit::solve_on_ranks<double>(ranks, a, b, o);
    EXPECT_EQ(stopped.report().why, status::interrupted) << stopped.report().message;
    EXPECT_EQ(stopped.on.rungs_together, 1);
    shown = 0;
    o.monitor = [&](const progress&, cview<double>) {
      if (++shown == most) throw error(fault::input, "seen enough");
      return true;
    };
    host_array<double> x(3600, 0.0);
    EXPECT_EQ(kit::sentence_of_ranks(ranks,
                                     [&](communicator& c) {
                                       if (c.rank() == 0) solve_from_first<double>(c, a, as_cview(b), as_view(x), o);
                                       else solve_from_first<double>(c, {}, {}, {}, {});
                                     }),
              "seen enough");
    o.monitor = {}, o.time_limit = 0;
    EXPECT_EQ(kit::solve_on_ranks<double>(ranks, a, b, o).report().why, status::max_iterations);
    o.cancelled = [] { return true; };
    EXPECT_EQ(kit::solve_on_ranks<double>(ranks, a, b, o).report().why, status::interrupted);
    EXPECT_EQ(kit::solve_on_ranks<double>(ranks, ring(300), kit::random_vector<double>(300, 1), o).report().why,
              status::interrupted);
  }
}

TEST(auto_on_ranks, that_is_stopped_between_two_methods_says_so) {
  const auto a = generate("anisotropic2d:200:0.001").a;
  const host_array<double> b = kit::random_vector<double>(a.shape.rows, 1);
  solve_options o;
  ASSERT_GE(kit::solve_on_ranks<double>(2, a, b, o).report().rungs.size(), 2u);
  std::atomic<bool> stopped = false; // while the first method runs, which does not ask
  o.cancelled = [&] { return stopped.load(); };
  o.watch_every = 1;
  o.watch = [&](const progress& p) { return stopped = p.iteration > 3, true; };
  const auto cut = kit::solve_on_ranks<double>(2, a, b, o);
  EXPECT_EQ(cut.report().why, status::interrupted) << cut.report().message;
  EXPECT_EQ(cut.report().rungs.size(), 1u);
}

TEST(auto_on_ranks, begins_the_next_right_hand_side_where_the_last_one_ended) {
  const auto a = kit::laplacian(2500);
  run_ranks(3, [&](communicator& c) {
    const index_t first = 2500 * c.rank() / 3, last = 2500 * (c.rank() + 1) / 3;
    std::vector<kit::triplet> mine;
    for (index_t k = 0; k < a.nnz(); ++k)
      if (a.row[k] >= first && a.row[k] < last) mine.push_back({a.row[k] - first, a.col[k], a.val[k]});
    solver_on_ranks<double> solver(c, kit::assemble({last - first, 2500}, std::move(mine)), {});
    const host_array<double> b(last - first, 1.0);
    host_array<double> x(last - first, 0.0), again = x;
    EXPECT_EQ(solver.solve(as_cview(b), as_view(x)).rungs_together, 1);
    const ranks_report next = solver.solve(as_cview(b), as_view(again));
    EXPECT_EQ(next.report.why, status::converged) << next.report.message;
    EXPECT_EQ(next.rungs_together, 0);
    EXPECT_EQ(way_of(next.report), "direct lu");
    EXPECT_FALSE(next.gathered.empty());
  });
}

/// Of a system that the first rank has.
ranks_report solve_whole(int ranks, const coo<double>& a, const host_array<double>& b, host_array<double>& x,
                         const solve_options& o = {}) {
  ranks_report on;
  run_ranks(ranks, [&](communicator& c) {
    const bool first = c.rank() == 0;
    ranks_report mine = first ? solve_from_first<double>(c, a, as_cview(b), as_view(x), o)
                              : solve_from_first<double>(c, {}, {}, {}, {});
    if (first) on = std::move(mine);
  });
  return on;
}

TEST(auto_on_ranks, has_least_squares_of_the_first_rank) {
  for (const shape2 shape : {shape2{90, 40}, shape2{40, 90}}) {
    std::vector<kit::triplet> entries;
    for (index_t i = 0; i < shape.rows; ++i)
      for (const index_t j : {i % shape.cols, (3 * i + 1) % shape.cols, (7 * i + 2) % shape.cols})
        entries.push_back({i, j, 1 + double((i + j) % 5)});
    const auto a = kit::assemble(shape, std::move(entries));
    const auto b = kit::random_vector<double>(shape.rows, 4);
    for (const char* solver : {"auto", "lsmr", "lsqr"}) {
      solve_options o;
      o.solver = solver;
      host_array<double> truth(shape.cols, 0.0);
      const auto one = solve(coo<double>(a), as_cview(b), as_view(truth), o);
      for (const int ranks : some_numbers) {
        host_array<double> x(shape.cols, 0.0);
        const ranks_report s = solve_whole(ranks, a, b, x, o);
        EXPECT_EQ(s.report.why, one.why) << s.report.message;
        EXPECT_EQ(s.report.message, one.message);
        EXPECT_EQ(s.gathered, "least squares are for one rank");
        EXPECT_EQ(s.parts.size(), static_cast<std::size_t>(ranks));
        EXPECT_TRUE(kit::same_bits(x, truth)) << solver << " on " << ranks;
      }
    }
    const no_room full;
    host_array<double> x(shape.cols, 0.0);
    EXPECT_NE(kit::said_by(fault::memory, [&] { solve_whole(3, a, b, x); }).find("the first rank would need"),
              std::string::npos);
  }
}

} // namespace
} // namespace furrow
