// SPDX-License-Identifier: BSD-3-Clause
#include "parallel.hpp"

#include "caches.hpp"
#include "crew.hpp"

#include "core/libraries.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/version.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

namespace furrow {
namespace cpu {
namespace {

/// A crew and the arena that its helpers come from.
struct team {
  explicit team(int count)
      : size(count), arena(count), helpers(count, count > oneapi::tbb::info::default_concurrency(),
                                           [this](int id) { arena.enqueue([this, id] { helpers.help(id); }); }) {}

  const int size;
  oneapi::tbb::task_arena arena;
  crew helpers;
};

/// The team of this size. Teams are kept for good: a helper may still be on its way when another size is asked for, or
/// when the program ends.
team* team_of(int size) {
  static auto& teams = *new std::map<int, team>;
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  return &teams.try_emplace(size, size).first->second;
}

std::atomic<team*>& current() {
  static std::atomic<team*> one = team_of(oneapi::tbb::info::default_concurrency());
  return one;
}

} // namespace

std::string tbb_version() { return TBB_runtime_version(); }

int thread_count() { return current().load(std::memory_order_relaxed)->size; }

void run_tasks(index_t count, void (*task)(void*, index_t), void* context, double streamed) {
  static const double cache = second_level_cache();
  team& here = *current().load();
  const double held = cache * here.size; // with what else there is to hold: a loop over three quarters of it misses
  if (here.helpers.run(count, task, context, streamed > 0.75 * held && streamed <= 8 * held)) return;
  // From inside a task, or from a second thread of the program: with whatever threads are free.
  oneapi::tbb::parallel_for(
      index_t(0), count, [&](index_t k) { task(context, k); }, oneapi::tbb::static_partitioner{});
}

} // namespace cpu

void set_threads(int wanted) {
  check(wanted >= 0, fault::usage, "the number of threads must be positive, or 0 for all");
  if (wanted > 0) {
    static std::unique_ptr<oneapi::tbb::global_control> limit; // lets a person ask for more than the machine has
    limit = std::make_unique<oneapi::tbb::global_control>(oneapi::tbb::global_control::max_allowed_parallelism,
                                                          static_cast<std::size_t>(wanted));
  }
  cpu::current() = cpu::team_of(wanted > 0 ? wanted : oneapi::tbb::info::default_concurrency());
}

int threads() { return cpu::thread_count(); }

} // namespace furrow
