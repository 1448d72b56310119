// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <algorithm>
#include <type_traits>

/// Parallel loops on the CPU. workers.cpp is the only file that starts threads.
namespace furrow::cpu {

/// Threads in use; `furrow::set_threads` changes it.
int thread_count();

/// Calls task(context, k) for every k in [0, count), spread evenly and in order over the threads; returns when all are
/// done. The first exception that a task throws is thrown again here.
///
/// streamed: bytes that the tasks together read from front to back, where the same loop comes again and again; 0 where
/// that is not so. A loop over a few times what the second caches of several threads hold then runs backwards every
/// other time: a part of what it reads is still there.
void run_tasks(index_t count, void (*task)(void* context, index_t k), void* context, double streamed);

/// body(k) for every k in [0, count), one task each; streamed as above.
template <class F> void for_each_task(index_t count, F&& body, double streamed = 0) {
  if (count == 1 || thread_count() == 1) {
    for (index_t k = 0; k < count; ++k) body(k);
    return;
  }
  using body_type = std::remove_reference_t<F>;
  run_tasks(
      count, [](void* context, index_t k) { (*static_cast<body_type*>(context))(k); },
      const_cast<void*>(static_cast<const void*>(&body)), streamed);
}

/// First index of part k when [0, n) is cut into `parts` nearly equal pieces.
constexpr index_t part_begin(index_t n, index_t parts, index_t k) { return n / parts * k + std::min(k, n % parts); }

/// body(first, last) over [0, n), cut into a piece a thread, but into none shorter than `grain`.
template <class F> void for_each_range(index_t n, index_t grain, F&& body) {
  const index_t parts = std::clamp<index_t>(n / std::max<index_t>(grain, 1), 1, thread_count());
  for_each_task(parts, [&](index_t k) { body(part_begin(n, parts, k), part_begin(n, parts, k + 1)); });
}

} // namespace furrow::cpu
