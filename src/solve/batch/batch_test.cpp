// SPDX-License-Identifier: BSD-3-Clause
// Many systems at once: each ends as by itself.
#include "each_system.hpp"
#include "solve/solve_test_kit.hpp"

#include <furrow/batch.hpp>
#include <furrow/device.hpp>
#include <furrow/generate.hpp>
#include <furrow/solver.hpp>

#include <atomic>
#include <thread>

namespace furrow {
namespace {

using namespace solve_test;

/// A system with arrays of its own, and what `solve` makes of it alone.
template <class V> struct owned_system {
  explicit owned_system(const coo<double>& from)
      : a(kit::as_precision<V>(from)), row_ptr(a.shape.rows + 1, 0), b(kit::random_vector<V>(a.shape.rows, 3)),
        x(a.shape.cols, V(0)) {
    for (const auto row : a.row) ++row_ptr[row + 1];
    for (index_t r = 0; r < a.shape.rows; ++r) row_ptr[r + 1] += row_ptr[r];
  }
  batch_system<V, std::int32_t> in_place() {
    return {{a.shape, as_cview(row_ptr), as_cview(a.col), as_cview(a.val)}, as_cview(b), as_view(x)};
  }

  coo<V> a;
  host_array<std::int32_t> row_ptr;
  host_array<V> b, x;
};

template <class V> std::vector<owned_system<V>> many_kinds() {
  std::vector<owned_system<V>> all;
  for (index_t k = 0; k < 12; ++k) {
    all.emplace_back(kit::laplacian(5 + k, 4, 3));
    all.emplace_back(generate("convection2d:" + std::to_string(8 + k) + ":20").a);
    all.emplace_back(kit::diagonal(std::vector<double>(static_cast<std::size_t>(k), 2.0)));
  }
  all.emplace_back(generate("poisson2d:160").a); // more than one thread takes
  return all;
}

template <class V> struct batches : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(batches, precisions);

TYPED_TEST(batches, end_as_each_system_by_itself) {
  using V = TypeParam;
  auto all = many_kinds<V>();
  ASSERT_GT(all.back().a.shape.rows + all.back().a.nnz(), side_by_side);
  std::vector<batch_system<V, std::int32_t>> systems;
  for (auto& s : all) systems.push_back(s.in_place());
  solve_options o;
  o.rtol = sizeof(V) == 8 ? 1e-10 : 1e-4;
  const auto outcomes = solve_batch(std::span<const batch_system<V, std::int32_t>>(systems), o);
  ASSERT_EQ(outcomes.size(), all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    host_array<V> x(all[k].x.size(), V(0));
    const auto alone = solve(all[k].a, as_cview(all[k].b), as_view(x), o);
    ASSERT_FALSE(outcomes[k].refused) << outcomes[k].refused->what();
    EXPECT_EQ(outcomes[k].report.why, alone.why) << outcomes[k].report.message;
    EXPECT_EQ(outcomes[k].report.message, alone.message);
    EXPECT_EQ(outcomes[k].report.history, alone.history);
    EXPECT_EQ(outcomes[k].report.relative_residual, alone.relative_residual);
    EXPECT_EQ(outcomes[k].report.error_estimate, alone.error_estimate);
    EXPECT_EQ(outcomes[k].report.condition_estimate, alone.condition_estimate);
    EXPECT_EQ(outcomes[k].report.warning, alone.warning);
    EXPECT_TRUE(kit::same_bits(as_cview(all[k].x), as_cview(x))) << k;
    EXPECT_EQ(outcomes[k].way, k + 1 < all.size() ? "by one thread, beside others" : "by all threads");
  }
}

TEST(batch, says_of_each_what_is_wrong_with_it_and_solves_the_others) {
  std::vector<owned_system<double>> all;
  for (int k = 0; k < 5; ++k) all.emplace_back(kit::laplacian(6, 5));
  std::vector<batch_system<double, std::int32_t>> systems;
  for (auto& s : all) systems.push_back(s.in_place());
  all[1].a.col[3] = 30;   // outside
  systems[2].b.size = 29; // too short
  all[3].b[7] = nan;      // no number
  const auto outcomes = solve_batch(std::span<const batch_system<double, std::int32_t>>(systems));
  for (const std::size_t k : {0, 4}) EXPECT_EQ(outcomes[k].report.why, status::converged);
  ASSERT_TRUE(outcomes[1].refused && outcomes[2].refused);
  EXPECT_EQ(outcomes[1].refused->kind, fault::input);
  EXPECT_EQ(outcomes[2].refused->kind, fault::usage);
  EXPECT_EQ(outcomes[2].refused->what(), std::string("the right-hand side has 29 elements for a matrix of 30 rows"));
  EXPECT_FALSE(outcomes[3].refused);
  EXPECT_EQ(outcomes[3].report.why, status::nan);
}

TEST(batch, refuses_an_x_in_memory_of_another_vector) {
  std::vector<owned_system<double>> all;
  for (int k = 0; k < 4; ++k) all.emplace_back(kit::laplacian(6, 5));
  std::vector<batch_system<double, std::int32_t>> systems;
  for (auto& s : all) systems.push_back(s.in_place());
  const auto said = [&] {
    return kit::said_by(fault::usage,
                        [&] { solve_batch(std::span<const batch_system<double, std::int32_t>>(systems)); });
  };
  systems[2].b = systems[1].b;
  EXPECT_EQ(said(), "");
  const auto own = systems[3].x;
  systems[3].x = systems[0].x;
  EXPECT_EQ(said(), "x of system 0 and x of system 3 share memory: give each x its own");
  host_array<double> both(31, 1.0);
  systems[3].x = own;
  systems[1].b = {both.data(), 30};
  systems[0].x = {both.data() + 1, 30};
  EXPECT_EQ(said(), "b of system 1 and x of system 0 share memory: give each x its own");
}

TEST(batch, refuses_options_that_no_system_can_have) {
  const auto refused = [](auto set, const char* why) {
    solve_options o;
    set(o);
    kit::expect_refusal(fault::usage, why,
                        [&] { solve_batch(std::span<const batch_system<double, std::int32_t>>{}, o); });
  };
  refused([](solve_options& o) { o.rtol = 2; }, "rtol = 2");
  refused([](solve_options& o) { o.solver = "cgg"; }, "cgg");
  refused([](solve_options& o) { o.precond = "jacoby"; }, "jacoby");
  refused([](solve_options& o) { o.coordinates = std::make_shared<node_coordinates>(); }, "coordinates");
  EXPECT_TRUE(solve_batch(std::span<const batch_system<double, std::int32_t>>{}).empty());
}

/// One call at a time, on whatever thread.
TEST(batch, stops_when_it_is_told_to) {
  set_threads(2); // each of more threads would stand in the middle of a system of its own
  std::vector<owned_system<double>> all;
  for (int k = 0; k < 40; ++k) all.emplace_back(kit::laplacian(20, 20));
  std::vector<batch_system<double, std::int32_t>> systems;
  for (auto& s : all) systems.push_back(s.in_place());
  solve_options o;
  o.solver = "cg";
  int steps = 0;
  std::atomic<int> inside = 0;
  o.monitor = [&](const progress&, cview<double>) {
    EXPECT_EQ(++inside, 1);
    ++steps;
    --inside;
    return steps < 200;
  };
  const auto outcomes = solve_batch(std::span<const batch_system<double, std::int32_t>>(systems), o);
  set_threads(0);
  int solved = 0, stopped = 0;
  for (const auto& one : outcomes) {
    ASSERT_FALSE(one.refused);
    solved += one.report.why == status::converged;
    stopped += one.report.why == status::interrupted;
  }
  EXPECT_EQ(steps, 200);
  EXPECT_GT(solved, 0);
  EXPECT_GT(stopped, 30);
  EXPECT_EQ(solved + stopped, 40);
  EXPECT_EQ(outcomes.back().report.message, "interrupted before it began");
}

TEST(batch, has_one_limit_of_time_for_all) {
  std::vector<owned_system<double>> all;
  for (int k = 0; k < 6; ++k) all.emplace_back(kit::laplacian(20, 20));
  std::vector<batch_system<double, std::int32_t>> systems;
  for (auto& s : all) systems.push_back(s.in_place());
  solve_options o;
  o.solver = "cg";
  o.time_limit = 0.05;
  o.monitor = [&](const progress& p, cview<double>) {
    if (p.iteration == 1) std::this_thread::sleep_for(std::chrono::milliseconds(60));
    return true;
  };
  for (const auto& one : solve_batch(std::span<const batch_system<double, std::int32_t>>(systems), o)) {
    EXPECT_EQ(one.report.why, status::max_iterations);
    EXPECT_TRUE(mentions(one.report.message, "time")) << one.report.message;
  }
}

TEST(batch, sets_up_nothing_when_the_time_of_all_is_over) {
  constexpr index_t many = 120000; // so that they follow each other
  std::vector<owned_system<double>> all;
  for (int k = 0; k < 3; ++k) all.emplace_back(kit::laplacian(many / 100, 100));
  std::vector<batch_system<double, std::int32_t>> systems;
  for (auto& s : all) systems.push_back(s.in_place());
  solve_options o;
  o.solver = "cg";
  o.time_limit = 0.05;
  int announced = 0;
  o.announce = [&](const memory_estimate&) { // in the set-up
    if (++announced == 1) std::this_thread::sleep_for(std::chrono::milliseconds(60));
  };
  const auto outcomes = solve_batch(std::span<const batch_system<double, std::int32_t>>(systems), o);
  EXPECT_EQ(announced, 1);
  for (const std::size_t k : {1, 2}) {
    EXPECT_EQ(outcomes[k].report.why, status::max_iterations);
    EXPECT_EQ(outcomes[k].report.message, "stopped by the limit on its time before it began");
  }
}

} // namespace
} // namespace furrow
