// SPDX-License-Identifier: BSD-3-Clause
#include "parallel.hpp"

#include "core/libraries.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/version.h>

#include <memory>

namespace furrow {
namespace cpu {
namespace {

struct team {
  int size = oneapi::tbb::info::default_concurrency();
  oneapi::tbb::task_arena arena{size};
};

std::unique_ptr<team>& current() {
  static auto one = std::make_unique<team>();
  return one;
}

} // namespace

std::string tbb_version() { return TBB_runtime_version(); }

int thread_count() { return current()->size; }

void run_tasks(index_t count, void (*task)(void*, index_t), void* context) {
  current()->arena.execute([&] {
    oneapi::tbb::parallel_for(
        index_t(0), count, [&](index_t k) { task(context, k); }, oneapi::tbb::static_partitioner{});
  });
}

} // namespace cpu

void set_threads(int wanted) {
  check(wanted >= 0, fault::usage, "the number of threads must be positive, or 0 for all");
  auto next = std::make_unique<cpu::team>();
  if (wanted > 0) {
    static std::unique_ptr<oneapi::tbb::global_control> limit; // lets a person ask for more than the machine has
    limit = std::make_unique<oneapi::tbb::global_control>(oneapi::tbb::global_control::max_allowed_parallelism,
                                                          static_cast<std::size_t>(wanted));
    next->size = wanted;
    next->arena.initialize(wanted);
  }
  cpu::current() = std::move(next);
}

int threads() { return cpu::thread_count(); }

} // namespace furrow
