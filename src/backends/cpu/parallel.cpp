// SPDX-License-Identifier: BSD-3-Clause
#include "parallel.hpp"

#include "caches.hpp"
#include "own_team.hpp"
#include "thread_team.hpp"
#include "workers.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>

#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <pthread.h>

namespace furrow {
namespace cpu {

/// A team whose helpers come from a pool.
struct team {
  team(int count, workers& pool)
      : size(count), pool(pool), helpers(count, count > processors(), [this](int id) {
          this->pool.grow_to(size - 1); // does something in the child of a fork alone
          return this->pool.post([this, id] { helpers.worker_loop(id); });
        }) {}

  const int size;
  workers& pool;
  thread_team helpers;
};

namespace {

/// All threads, and the teams that they form. Never destroyed: a helper may still be awake when the program ends, or on
/// its way when another size is asked for.
struct staff {
  workers pool;
  std::map<std::pair<int, int>, team> teams; ///< by size and number; 0: that of all who have none of their own
  std::mutex one_at_a_time;

  team* of(int size, int number = 0) {
    const std::lock_guard lock(one_at_a_time);
    return &teams.try_emplace({size, number}, size, pool).first->second;
  }
};
std::atomic<staff*> everybody;
std::atomic<team*> chosen;
thread_local team* own = nullptr;

/// Threads do not come along to the child of a fork, and its copies of their locks may stay locked: it gets a staff of
/// its own, whose threads start when they are needed. What the parent's had is left alone.
void begin_anew_in_child() {
  everybody = new staff;
  own = nullptr;
  chosen = everybody.load()->of(chosen.load()->size);
}

/// The team of this size; of fewer where the system starts no more threads.
team* team_of(int size, int number = 0) {
  static const bool once = [] {
    everybody = new staff;
    return true;
  }();
  static_cast<void>(once);
  staff& all = *everybody.load();
  return all.of(1 + all.pool.grow_to(std::min(size, thread_team::most) - 1), number);
}

team& current() {
  if (own) return *own;
  static const bool once = [] {
    chosen = team_of(processors());
    return pthread_atfork(nullptr, nullptr, begin_anew_in_child) == 0;
  }();
  static_cast<void>(once);
  return *chosen.load(std::memory_order_relaxed);
}

/// A loop beside that of a team: from inside a task, or from a second thread of the program. Who takes part takes the
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
void run_beside(index_t count, void (*task)(void*, index_t), void* context, team& here) {
  const std::shared_ptr<side_loop> loop(new side_loop{count, task, context});
  for (index_t helper = 1; helper < std::min<index_t>(count, here.size); ++helper)
    if (!here.pool.post_to_sleeper([loop] { loop->work(); })) break;
  loop->work();
  while (loop->done.load(std::memory_order_acquire) != count) std::this_thread::yield(); // someone is inside a task
  if (loop->failure) std::rethrow_exception(loop->failure);
}

} // namespace

own_team::own_team(int size, int number) : outer_(own) {
  current(); // what a fork's child begins with is there
  own = team_of(size, number);
}
own_team::~own_team() { own = outer_; }

/// Before a first loop of several tasks the size of the team that it will form: to start threads takes as long as to
/// solve a system of 20 rows, and loops of one task need none. A team is smaller where the system starts no more.
int thread_count() {
  if (own) return own->size;
  if (const team* const there = chosen.load(std::memory_order_relaxed)) return there->size;
  static const int most = std::min(processors(), thread_team::most);
  return most;
}

void run_tasks(index_t count, void (*task)(void*, index_t), void* context, double streamed) {
  team& here = current();
  const double held =
      second_level_cache() * here.size; // with what else there is to hold: a loop over three quarters of it misses
  if (here.helpers.run(count, task, context, streamed > 0.75 * held && streamed <= 8 * held)) return;
  run_beside(count, task, context, here);
}

} // namespace cpu

void set_threads(int wanted) {
  check(wanted >= 0, fault::usage, "the number of threads must be positive, or 0 for all");
  cpu::current(); // the child of a fork begins with as many
  cpu::chosen = cpu::team_of(wanted > 0 ? wanted : cpu::processors());
}

int threads() { return cpu::current().size; }

} // namespace furrow
