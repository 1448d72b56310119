// SPDX-License-Identifier: BSD-3-Clause
#include "backends/cpu/parallel.hpp"
#include "backends/cpu/thread_team.hpp"

#include <furrow/device.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace furrow::cpu {
namespace {

/// Sets the number of threads and restores the default.
struct with_threads {
  explicit with_threads(int n) { set_threads(n); }
  ~with_threads() { set_threads(0); }
};

/// How often each of `count` tasks ran.
std::vector<int> visits(index_t count) {
  std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
  for_each_task(count, [&](index_t k) { ++seen[k]; });
  return {seen.begin(), seen.end()};
}

TEST(thread_team, every_task_runs_once_whatever_the_number_of_threads) {
  for (const int threads : {1, 2, 3, 8, 33}) {
    const with_threads these(threads);
    for (const index_t count : {1, 2, 3, 7, 64, 4095, 4096, 10001})
      EXPECT_EQ(visits(count), std::vector<int>(count, 1)) << threads << " threads, " << count << " tasks";
  }
}

TEST(thread_team, many_short_jobs_in_a_row) {
  const with_threads these(4);
  std::atomic<index_t> total = 0;
  for (int job = 0; job < 20000; ++job) for_each_task(5, [&](index_t k) { total += k; });
  EXPECT_EQ(total, 20000 * 10);
}

TEST(thread_team, helpers_leave_and_come_back) {
  const with_threads these(3);
  for (int k = 0; k < 5; ++k) {
    EXPECT_EQ(visits(100), std::vector<int>(100, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(4)); // longer than a helper waits
  }
}

TEST(thread_team, a_job_ends_although_nobody_helps) {
  thread_team alone(4, false, [](int) { return false; });
  std::atomic<index_t> total = 0;
  EXPECT_TRUE(alone.run(
      100, [](void* sum, index_t k) { *static_cast<std::atomic<index_t>*>(sum) += k; }, &total));
  EXPECT_EQ(total, 4950);
}

TEST(thread_team, who_cannot_be_hired_is_asked_for_again) {
  static int asked = 0;
  thread_team alone(3, false, [](int) { return ++asked > 4; });
  for (int job = 0; job < 4; ++job)
    alone.run(
        9, [](void*, index_t) {}, nullptr);
  EXPECT_EQ(asked, 4); // once a job: one refusal is enough
  alone.run(
      9, [](void*, index_t) {}, nullptr);
  EXPECT_EQ(asked, 6); // both come
  alone.run(
      9, [](void*, index_t) {}, nullptr);
  EXPECT_EQ(asked, 6);
}

TEST(thread_team, a_loop_that_turns_runs_backwards_every_other_time) {
  thread_team alone(1, false, [](int) { return false; });
  std::vector<index_t> order;
  const auto note = [](void* to, index_t k) { static_cast<std::vector<index_t>*>(to)->push_back(k); };
  const auto note_twice = [](void* to, index_t k) { static_cast<std::vector<index_t>*>(to)->push_back(2 * k); };
  alone.run(4, note, &order, true);
  alone.run(3, note_twice, &order, true); // another loop has a way of its own
  alone.run(4, note, &order, true);
  alone.run(2, note, &order);
  alone.run(3, note_twice, &order, true);
  alone.run(4, note, &order, true);
  EXPECT_EQ(order, (std::vector<index_t>{0, 1, 2, 3, 0, 2, 4, 3, 2, 1, 0, 0, 1, 4, 2, 0, 0, 1, 2, 3}));
}

TEST(thread_team, a_second_job_at_the_same_time_is_refused_not_lost) {
  thread_team c(2, false, [](int) { return true; }); // who never comes
  struct both {
    thread_team& c;
    bool inner = true;
  } state{c};
  c.run(
      1,
      [](void* context, index_t) {
        auto& s = *static_cast<both*>(context);
        s.inner = s.c.run(
            1, [](void*, index_t) {}, nullptr);
      },
      &state);
  EXPECT_FALSE(state.inner);
}

TEST(thread_team, tasks_within_tasks_and_threads_of_the_program) {
  const with_threads these(4);
  std::atomic<index_t> total = 0;
  const auto nested = [&] { for_each_task(8, [&](index_t) { for_each_task(8, [&](index_t k) { total += k; }); }); };
  std::vector<std::thread> callers;
  for (int t = 0; t < 3; ++t)
    callers.emplace_back([&] {
      for (int job = 0; job < 50; ++job) nested();
    });
  for (auto& t : callers) t.join();
  EXPECT_EQ(total, 3 * 50 * 8 * 28);
}

TEST(thread_team, the_first_exception_arrives_and_the_team_goes_on) {
  const with_threads these(3);
  for (int k = 0; k < 20; ++k) {
    EXPECT_THROW(for_each_task(64,
                               [](index_t task) {
                                 if (task == 40) throw std::runtime_error("40");
                               }),
                 std::runtime_error);
    EXPECT_EQ(visits(64), std::vector<int>(64, 1));
  }
}

} // namespace
} // namespace furrow::cpu
