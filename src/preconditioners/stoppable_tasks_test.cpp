// SPDX-License-Identifier: BSD-3-Clause
#include "stoppable_tasks.hpp"

#include "kit/matrices.hpp"
#include "kit/refused_by.hpp"

#include <furrow/device.hpp>

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace furrow {
namespace {

TEST(stoppable_tasks, take_each_once) {
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    std::vector<int> taken(1000, 0);
    for_each_stoppable(1000, [&] { return [&](index_t k) { ++taken[std::size_t(k)]; }; });
    EXPECT_EQ(taken, std::vector<int>(1000, 1)) << count;
    for_each_stoppable(0, [&] { return [](index_t) { FAIL(); }; });
  }
  set_threads(0);
}

/// Tasks without an end of their own.
TEST(stoppable_tasks, end_on_all_threads_where_the_caller_hears_it) {
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    int asked = 0;
    const stops_set_up stop([&]() -> std::optional<refusal> {
      if (++asked < 50) return {};
      return refusal{status::interrupted, "enough"};
    });
    const auto endless = [](index_t) {
      for (;;) stops_set_up::at_row(0);
    };
    kit::expect_refusal(status::interrupted, "enough", [&] { for_each_stoppable(3, [&] { return endless; }); });
    EXPECT_EQ(asked, 50) << count;
  }
  set_threads(0);
}

TEST(stoppable_tasks, hand_on_what_one_of_them_throws) {
  for (const int count : {1, 2, 3}) {
    set_threads(count);
    const auto fails = [](index_t k) {
      if (k == 7) throw std::runtime_error("the seventh");
    };
    EXPECT_THROW(for_each_stoppable(1000, [&] { return fails; }), std::runtime_error) << count;
  }
  set_threads(0);
}

TEST(stoppable_tasks, are_those_of_set_ups_that_take_long) {
  const auto a = kit::laplacian(60, 60);
  for (const char* name : {"fsai", "fsai:3", "fsai:adaptive", "schwarz", "schwarz:40:1:inside=dense", "block_jacobi",
                           "spai0", "ssor", "chebyshev", "amg", "amg:sa"}) {
    int asked = 0;
    const stops_set_up stop([&]() -> std::optional<refusal> {
      if (++asked < 2) return {};
      return refusal{status::interrupted, "enough"};
    });
    kit::expect_refusal(status::interrupted, "", [&] { make_preconditioner(name, a, device{}, {}); });
    EXPECT_EQ(asked, 2) << name;
  }
}

} // namespace
} // namespace furrow
