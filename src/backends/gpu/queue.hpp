// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "runtime_cuda.hpp"

#include <furrow/array.hpp>

#include <cstdint>
#include <source_location>

namespace furrow::gpu {

/// Throws `fault::device` (`fault::memory` where the GPU ran out of it) with the runtime's words unless `code` is
/// success.
void check(cudaError_t code, std::source_location at = std::source_location::current());

/// Most running sums of one pass, and most blocks that a pass with sums may have.
inline constexpr int max_sums = 4;
inline constexpr int blocks_per_multiprocessor = 16;

/// Arrays take a multiple of this many bytes, so that a copy in units of 16 bytes may read past the last element.
inline constexpr std::size_t padding = 64;

/// One GPU as this library uses it: everything is enqueued on one stream, in order, so one scratch area serves all
/// reductions. Lives as long as the process.
struct queue {
  int ordinal = 0;
  int multiprocessors = 0;
  int cache_bytes = 0; ///< of the second cache
  bool graphs = false; ///< loops may run inside a graph
  bool early_launch =
      false;             ///< a kernel may come while the one before it ends (`launch`); from compute capability 9.0 on
  bool clusters = false; ///< blocks may run in clusters that share their memory; from compute capability 9.0 on
  cudaStream_t stream = nullptr;
  double* partial = nullptr;   ///< max_blocks() x max_sums partial sums
  unsigned* arrived = nullptr; ///< blocks that have left their partial sums; 0 between kernels
  std::int64_t moved = 0;      ///< bytes that `copy_bytes` moved between the host and this GPU
  int max_blocks() const { return multiprocessors * blocks_per_multiprocessor; }
};

/// The queue of the device that `furrow::select_device` chose for this thread, gpu:0 if none.
queue& current_queue();

/// Blocks of `threads` for `n` threads of work: no more than there is work, no more than fill the device `times` over.
inline unsigned blocks_for(index_t n, int threads, const queue& q, int times = blocks_per_multiprocessor) {
  const index_t wanted = (n + threads - 1) / threads, most = index_t(q.multiprocessors) * times;
  return static_cast<unsigned>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

/// Waits for everything enqueued.
void wait(const queue& q);

/// While one lives, memory that is released stays with the process: work that takes and releases large arrays, and waits
/// in between, would get each of them from the driver anew, at some 10 GB/s.
class memory_kept {
public:
  memory_kept();
  ~memory_kept();
  memory_kept(const memory_kept&) = delete;
  memory_kept& operator=(const memory_kept&) = delete;

private:
  int ordinal_;
};

} // namespace furrow::gpu
