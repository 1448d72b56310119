// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "stop.hpp"

#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>
#include <thread>

namespace furrow {

/// take(k) for every k in [0, count) on all threads, whoever is free the next one; `begin()` makes a thread its `take`.
/// The thread of the caller asks whether the set-up is to go on (`stops_set_up`), before each and wherever `take` does,
/// and at both ends, for others may leave it no task; where it is not, or where a task throws, all others stop at their
/// next question, and that exception comes out.
template <class Begin> void for_each_stoppable(index_t count, Begin begin) {
  stops_set_up::at_row(0);
  const auto caller = std::this_thread::get_id();
  std::atomic<index_t> next{0};
  std::atomic<bool> over{false};
  std::exception_ptr why;
  cpu::for_each_task(std::min<index_t>(count, cpu::thread_count()), [&](index_t) {
    std::optional<stops_set_up> hears;
    if (std::this_thread::get_id() != caller)
      hears.emplace([&] { return over ? std::optional<refusal>(refusal{}) : std::nullopt; });
    try {
      auto take = begin();
      for (index_t k = 0; !over && (k = next++) < count;) {
        stops_set_up::at_row(0);
        take(k);
      }
    } catch (...) {
      if (!over.exchange(true)) why = std::current_exception();
    }
  });
  if (why) std::rethrow_exception(why);
  stops_set_up::at_row(0);
}

} // namespace furrow
