// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/device.hpp>
#include <furrow/operator.hpp>

#include <functional>
#include <vector>

namespace furrow {

/// Seconds of one call, over `repeats` of them.
struct timing {
  double median = 0, fastest = 0;
  int repeats = 0;
};

/// Times y = alpha A x on `where`, which must be selected and own x and y. Two calls to warm up, then `repeat` timed
/// ones; 0: as many as fit half a second, between 7 and 1000.
template <class V>
timing time_apply(const any_operator<V>& a, cview<V> x, view<V> y, device where, int repeat, V alpha = V(1));

#if FURROW_HAS_GPU
namespace gpu {
/// Seconds of each of `repeat` calls of `enqueue`, by device events around every single call.
std::vector<double> time_calls(const std::function<void()>& enqueue, int repeat);
/// Enqueues a pass that writes the first half of the bytes and one that reads the second: what is in the cache then
/// needs no writing back, which would take its time beside what runs next.
void flush_cache(view<char> bytes);
} // namespace gpu
#endif

} // namespace furrow
