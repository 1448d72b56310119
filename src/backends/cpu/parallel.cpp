// SPDX-License-Identifier: BSD-3-Clause
#include "parallel.hpp"

#include "caches.hpp"
#include "crew.hpp"
#include "workers.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>

#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

namespace furrow {
namespace cpu {
namespace {

/// Never destroyed, as are the teams: a helper may still be awake when the program ends.
workers& pool() {
  static auto& one = *new workers;
  return one;
}

/// A crew whose helpers come from the pool.
struct team {
  explicit team(int count)
      : size(count),
        helpers(count, count > processors(), [this](int id) { return pool().post([this, id] { helpers.help(id); }); }) {
  }

  const int size;
  crew helpers;
};

/// The team of this size; of fewer where the system starts no more threads. Teams are kept for good: a helper may still
/// be on its way when another size is asked for.
team* team_of(int size) {
  static auto& teams = *new std::map<int, team>;
  static std::mutex one_at_a_time;
  size = 1 + pool().grow_to(std::min(size, crew::most) - 1);
  const std::lock_guard lock(one_at_a_time);
  return &teams.try_emplace(size, size).first->second;
}

std::atomic<team*>& current() {
  static std::atomic<team*> one = team_of(processors());
  return one;
}

/// A loop beside that of a crew: from inside a task, or from a second thread of the program. Who takes part takes the
/// next task; one who comes too late finds none.
struct side_loop {
  const index_t count;
  void (*const task)(void*, index_t);
  void* const context;
  std::atomic<index_t> next{0}, done{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure{};

  void work() noexcept {
    for (index_t k; (k = next.fetch_add(1)) < count; done.fetch_add(1, std::memory_order_acq_rel)) {
      if (failed.load(std::memory_order_relaxed)) continue;
      try {
        task(context, k);
      } catch (...) {
        if (!failed.exchange(true)) failure = std::current_exception();
      }
    }
  }
};

/// With whatever threads sleep.
void run_beside(index_t count, void (*task)(void*, index_t), void* context, int size) {
  const std::shared_ptr<side_loop> loop(new side_loop{count, task, context});
  for (index_t helper = 1; helper < std::min<index_t>(count, size); ++helper)
    if (!pool().post_to_sleeper([loop] { loop->work(); })) break;
  loop->work();
  while (loop->done.load(std::memory_order_acquire) != count) std::this_thread::yield(); // someone is inside a task
  if (loop->failure) std::rethrow_exception(loop->failure);
}

} // namespace

int thread_count() { return current().load(std::memory_order_relaxed)->size; }

void run_tasks(index_t count, void (*task)(void*, index_t), void* context, double streamed) {
  static const double cache = second_level_cache();
  team& here = *current().load();
  const double held = cache * here.size; // with what else there is to hold: a loop over three quarters of it misses
  if (here.helpers.run(count, task, context, streamed > 0.75 * held && streamed <= 8 * held)) return;
  run_beside(count, task, context, here.size);
}

} // namespace cpu

void set_threads(int wanted) {
  check(wanted >= 0, fault::usage, "the number of threads must be positive, or 0 for all");
  cpu::current() = cpu::team_of(wanted > 0 ? wanted : cpu::processors());
}

int threads() { return cpu::thread_count(); }

} // namespace furrow
