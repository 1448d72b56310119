// SPDX-License-Identifier: BSD-3-Clause
#include "parallel.hpp"

#include <furrow/device.hpp>
#include <furrow/solve.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <vector>

namespace furrow::cpu {
namespace {

index_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator());
}

/// In a process of its own, where no loop has run before.
TEST(loops, of_one_task_start_no_threads_nor_does_a_small_solve) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto solve_alone = [] {
    index_t sum = 0;
    for_each_range(1000, 1 << 15, [&](index_t first, index_t last) { sum += last - first; });
    const coo<double> a{{2, 2}, {0, 0, 1, 1}, {0, 1, 0, 1}, {2, 1, 1, 2}};
    host_array<double> b(2, 3.0), x(2, 0.0);
    const bool solved = solve(a, as_cview(b), as_view(x), {}).why == status::converged;
    std::exit(sum == 1000 && solved && threads_of_process() == 1 ? 0 : 1);
  };
  EXPECT_EXIT(solve_alone(), testing::ExitedWithCode(0), "");
}

TEST(loops, of_several_tasks_have_the_threads_that_are_counted) {
  const int count = thread_count();
  EXPECT_GE(count, 1);
  std::vector<int> seen(100, 0);
  for_each_task(100, [&](index_t k) { ++seen[static_cast<std::size_t>(k)]; });
  EXPECT_EQ(seen, std::vector<int>(100, 1));
  EXPECT_EQ(thread_count(), count);
  EXPECT_EQ(threads(), count);
}

} // namespace
} // namespace furrow::cpu
