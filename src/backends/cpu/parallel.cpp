// SPDX-License-Identifier: BSD-3-Clause
#include "parallel.hpp"

#include "crew.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <memory>

namespace furrow {
namespace cpu {
namespace {

/// The crew of the process and the arena that its helpers come from. A helper that is about to leave keeps both alive.
struct team : std::enable_shared_from_this<team> {
  explicit team(int count)
      : size(count), arena(count), helpers(count, count > oneapi::tbb::info::default_concurrency(), [this](int id) {
          arena.enqueue([self = shared_from_this(), id] { self->helpers.help(id); });
        }) {}

  const int size;
  oneapi::tbb::task_arena arena;
  crew helpers;
};

std::shared_ptr<team>& current() {
  static auto one = std::make_shared<team>(oneapi::tbb::info::default_concurrency());
  return one;
}

} // namespace

int thread_count() { return current()->size; }

void run_tasks(index_t count, void (*task)(void*, index_t), void* context) {
  if (current()->helpers.run(count, task, context)) return;
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
  auto next = std::make_shared<cpu::team>(wanted > 0 ? wanted : oneapi::tbb::info::default_concurrency());
  cpu::current().swap(next);
  next->helpers.dismiss();
}

int threads() { return cpu::thread_count(); }

} // namespace furrow
