// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "timing.hpp"

#include <furrow/array.hpp>

namespace furrow {

/// Goes over more memory than the caches of a device hold: what runs next starts cold.
class cache_flush {
public:
  /// On `where`, which must be selected.
  explicit cache_flush(device where);
  void operator()();

private:
  host_array<char> host_;
  gpu_array<char> gpu_;
};

/// How long to measure.
struct endurance {
  int repeat = 0;               ///< timed samples; 0: as many as fit `seconds`, 3 to 1000
  double seconds = 0.25;        ///< of one measurement, flushes included, warm-up not
  cache_flush* flush = nullptr; ///< before every sample; null: warm, as an iterative solver finds its data
};

/// Seconds of one call of `call`, which enqueues on `where`; two calls to warm up, on a CPU as many as take `e.seconds`
/// or 20 ms, where no number of samples is asked for. Warm samples of short calls on a GPU are several calls between
/// two events: the host's launch must not count where the device is the one to wait.
timing time_steadily(const std::function<void()>& call, device where, const endurance& e);

/// Of several turns of a contender the fastest counts; before the first one `kept` is empty.
inline void keep_faster(timing& kept, const timing& turn) {
  if (kept.repeats == 0 || turn.median < kept.median) kept = turn;
}

/// Waits for everything that was enqueued on `where`.
void wait_for(device where);

/// Waits until the threads of this process are idle, for two seconds at most. Those of a pool that has nothing to do go
/// on spinning for a while, OpenBLAS's and Intel's OpenMP's for a fifth of a second: not beside the next measurement.
void let_threads_rest();

} // namespace furrow
