// SPDX-License-Identifier: BSD-3-Clause
// What ends a climb before its answer: the clock, a limit on the iterations, whoever asks.
#include "ladder_system.hpp"
#include "solve_test_kit.hpp"

#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <chrono>
#include <limits>
#include <thread>

namespace furrow {
namespace {

using namespace solve_test;

void sleep_for_milliseconds(int count) { std::this_thread::sleep_for(std::chrono::milliseconds(count)); }

/// On a large matrix the look for diagonal blocks takes a second.
TEST(climb, hears_an_interruption_while_it_looks_for_diagonal_blocks) {
  const index_t n = 8000;
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < n; ++i) entries.push_back({i, (i + 1) % n, 2}), entries.push_back({i, (7 * i + 3) % n, 1});
  const auto a = kit::assemble({n, n}, std::move(entries));
  const auto look = [&a](bool cancelled) {
    index_t asked = 0;
    auto o = by_auto(1e-10);
    o.cancelled = [&, cancelled] { return ++asked > 20 && cancelled; };
    ladder_system<double> system(o, {});
    system.deadline = std::numeric_limits<double>::infinity();
    setup_clock clock;
    matrix_source<double> source(coo<double>(a), device{});
    EXPECT_EQ(bool(system.look(source, clock, [](const features&) { return true; })), cancelled);
    return std::pair(system.known.blocks, asked);
  };
  const auto [blocks, asked] = look(false);
  EXPECT_GT(blocks, 0);
  EXPECT_GT(asked, n / 32);
  EXPECT_EQ(look(true).first, 0);
  EXPECT_LT(look(true).second, 30);
}

TEST(climb, that_is_stopped_between_two_methods_says_so) {
  const auto a = generate("anisotropic2d:200:0.001").a;
  const host_array<double> b(a.shape.rows, 1.0);
  host_array<double> x(a.shape.rows, 0.0);
  auto o = by_auto(1e-10);
  bool stopped = false; // once the first rung is over
  o.cancelled = [&] { return stopped; };
  o.watch_every = 1;
  o.watch = [&](const progress& p) { return stopped = p.iteration > 3, true; };
  const auto report = solve(a, as_cview(b), as_view(x), o);
  EXPECT_EQ(report.why, status::interrupted) << report.message;
  EXPECT_EQ(report.rungs.size(), 1u);
}

TEST(climb, counts_the_iterations_of_all_rungs_against_the_limit) {
  const auto a = generate("convection2d:40:80").a;
  auto o = by_auto(1e-14);
  o.max_iterations = 9;
  const auto s = kit::solve_honestly(a, kit::random_vector<double>(a.shape.rows, 4), o);
  index_t sum = 0;
  for (const solve_rung& r : s.report.rungs) sum += r.iterations;
  EXPECT_LE(sum, 9);
}

TEST(climb, can_be_cancelled_while_it_is_set_up) {
  for (int calls = 0; calls < 3; ++calls) {
    auto o = by_auto(1e-10);
    int left = calls;
    o.cancelled = [&] { return left-- == 0; };
    solver<double> kept(kit::laplacian(10), o);
    const auto b = ones(10);
    host_array<double> x(10, 0.0);
    EXPECT_EQ(kept.solve(as_cview(b), as_view(x)).why, status::interrupted) << calls;
  }
}

TEST(climb, stops_by_the_clock) {
  auto o = by_auto(1e-10);
  o.time_limit = 0;
  const auto s = kit::solve_honestly(kit::laplacian(40, 40), ones(1600), o);
  EXPECT_EQ(s.report.why, status::max_iterations);
  EXPECT_TRUE(mentions(s.report.message, "time")) << s.report.message;
  EXPECT_EQ(s.report.rungs.size(), 1u);
}

TEST(climb, counts_its_set_up_against_the_clock) {
  auto o = by_auto(1e-10);
  o.time_limit = 0.05;
  o.announce = [](const memory_estimate&) { sleep_for_milliseconds(60); };
  solver<double> kept(kit::laplacian(10, 10), o);
  const auto b = ones(100);
  host_array<double> x(100, 0.0);
  const auto first = kept.solve(as_cview(b), as_view(x));
  EXPECT_EQ(first.why, status::max_iterations);
  EXPECT_TRUE(mentions(first.message, "time")) << first.message;
  EXPECT_EQ(first.rungs.size(), 1u);
  o.time_limit = 1e3;
  kept.set_limits(o);
  EXPECT_EQ(kept.solve(as_cview(b), as_view(x)).why, status::converged);
}

/// Also between two methods, where neither of them was stopped by it.
TEST(climb, names_the_clock_wherever_it_ends_the_climb) {
  const auto a = generate("poisson2d:200").a;
  const auto b = kit::times(a, ones(a.shape.rows));
  auto o = by_auto(1e-12);
  o.where = device{};
  double until = 1, whole = 1; // the least of some: the first one runs code for the first time
  for (int k = 0; k < 4; ++k) {
    const auto r = kit::solve_honestly(a, b, o).report;
    ASSERT_GE(r.rungs.size(), 2u);
    until = std::min(until, r.rungs[0].solve_seconds), whole = std::min(whole, r.setup_seconds + r.solve_seconds);
  }
  for (int k = 0; k < 60; ++k) {
    o.time_limit = until + (whole - until) * double(k) / 60;
    const auto r = kit::solve_honestly(a, b, o).report;
    EXPECT_TRUE(r.why == status::converged || mentions(r.message, "the limit on")) << r.message;
  }
}

/// Each sixteenth row of the factors takes a millisecond here, all of 6,400 rows 0.4 s.
TEST(climb, hands_over_within_the_limit_on_the_time) {
  for (const char* method : {"auto", "bicgstab"}) {
    auto o = by_auto(1e-10);
    o.solver = method, o.precond = "ilu", o.time_limit = 0.1;
    int asked = 0;
    o.cancelled = [&] { return ++asked, sleep_for_milliseconds(1), false; };
    const auto a = generate("convection2d:80:20").a;
    const auto s = kit::solve_honestly(a, kit::times(a, ones(6400)), o);
    EXPECT_EQ(s.report.why, status::max_iterations) << method;
    EXPECT_TRUE(mentions(s.report.message, "time")) << method << ": " << s.report.message;
    EXPECT_LE(asked, 110) << method;
  }
}

#if FURROW_HAS_SUPERLU
/// Behind 113 iterations of minres the factors ask some 1,200 times whether to go on.
TEST(climb, says_what_the_limit_on_the_time_ended) {
  const auto a = shifted_grid(0.5);
  auto o = by_auto(1e-8);
  o.where = device{}, o.time_limit = 2, o.watch_every = 1;
  int watched = 0;
  o.watch = [&](const progress&) { return ++watched, true; };
  o.cancelled = [&] {
    if (watched > 105) sleep_for_milliseconds(5);
    return false;
  };
  const auto r = kit::solve_honestly(a, ones(a.shape.rows), o).report;
  EXPECT_EQ(r.why, status::max_iterations);
  EXPECT_EQ(r.solver, "minres") << "whose x it is";
  EXPECT_EQ(r.rungs.back().solver, "direct");
  EXPECT_EQ(r.message.find("ended in the set-up of direct with lu: lu was not set up within the limit on the time; "
                           "before it minres with jacobi: left after 113 iterations"),
            0u)
      << r.message;
}
#endif

TEST(climb, takes_new_goals_and_limits) {
  const auto a = kit::laplacian(30, 30);
  const auto b = kit::random_vector<double>(900, 3);
  for (const precision values : {precision::f64, precision::f32}) {
    auto o = by_auto(0.1);
    o.values = values;
    solver<double> kept(a, o);
    host_array<double> x(900, 0.0), again(900, 0.0);
    EXPECT_GT(kept.solve(as_cview(b), as_view(x)).relative_residual, 1e-3);
    o.rtol = 1e-5;
    kept.set_limits(o);
    EXPECT_LE(kept.solve(as_cview(b), as_view(again)).relative_residual, 1e-5);
  }
}

} // namespace
} // namespace furrow
