// SPDX-License-Identifier: BSD-3-Clause
#include "workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace furrow::cpu {
namespace {

/// Kept for good, as the pool of the program is: its threads do not end.
workers& new_pool() {
  static auto& kept = *new std::vector<workers*>;
  kept.push_back(new workers);
  return *kept.back();
}

void wait_for(const std::atomic<int>& count, int wanted) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (count != wanted && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(count, wanted);
}

TEST(workers, there_is_at_least_one_processor) { EXPECT_GE(processors(), 1); }

TEST(workers, grow_and_never_shrink) {
  workers& pool = new_pool();
  EXPECT_EQ(pool.grow_to(0), 0);
  EXPECT_EQ(pool.grow_to(3), 3);
  EXPECT_EQ(pool.grow_to(2), 2); // of three
}

TEST(workers, without_threads_take_no_jobs) {
  workers& pool = new_pool();
  EXPECT_FALSE(pool.post([] {}));
  EXPECT_FALSE(pool.post_to_sleeper([] {}));
}

TEST(workers, run_every_job_once_also_those_that_wait) {
  workers& pool = new_pool();
  static std::atomic<int> ran = 0; // static: the threads outlive the test
  pool.grow_to(2);
  for (int k = 0; k < 1000; ++k) EXPECT_TRUE(pool.post([] { ++ran; }));
  wait_for(ran, 1000);
}

TEST(workers, who_is_busy_does_not_sleep) {
  workers& pool = new_pool();
  static std::atomic<int> ran = 0;
  static std::atomic<bool> go = false;
  pool.grow_to(1);
  pool.post([] {
    while (!go) std::this_thread::yield();
    ++ran;
  });
  EXPECT_FALSE(pool.post_to_sleeper([] { ran += 100; }));
  go = true;
  wait_for(ran, 1);
}

} // namespace
} // namespace furrow::cpu
