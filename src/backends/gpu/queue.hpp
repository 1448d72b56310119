// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "runtime_cuda.hpp"

#include <furrow/array.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <source_location>

namespace furrow::gpu {

/// Throws `fault::device` (`fault::memory` where the GPU ran out of it) with the runtime's words unless `code` is
/// success.
void check(runtime::code code, std::source_location at = std::source_location::current());

/// The same for the kernels that `<<<>>>` was to start.
void check_launch(std::source_location at = std::source_location::current());

/// Most running sums of one pass, and most blocks that a pass with sums may have.
inline constexpr int max_sums = 5;
inline constexpr int blocks_per_multiprocessor = 16;

/// Arrays take a multiple of this many bytes, so that a copy in units of 16 bytes may read past the last element.
inline constexpr std::size_t padding = 64;

/// One GPU as this library uses it: everything is enqueued on one stream, in order, so one scratch area serves all
/// reductions. Lives as long as the process. On a stream of the caller (`execution_scope`) it is a copy with another
/// stream, and turns keep the order (backends/turn.hpp).
struct queue {
  int ordinal = 0;
  int multiprocessors = 0;
  int cache_bytes = 0; ///< of the second cache
  bool graphs = false; ///< loops may run inside a graph
  /// A kernel may come while the one before it ends (`launch`); from compute capability 9.0 on.
  bool early_launch = false;
  runtime::stream stream = nullptr;
  runtime::stream recorder = nullptr; ///< of `recording`
  runtime::pool pool = nullptr;       ///< of the device, our own
  double* partial = nullptr;          ///< max_blocks() x max_sums partial sums
  unsigned* arrived = nullptr;        ///< blocks that have left their partial sums; 0 between kernels
  /// Bytes that `copy_bytes` moved between the host and this GPU, in all threads.
  std::atomic<std::int64_t>* moved = nullptr;
  long long id = 0; ///< 0: our own stream; otherwise no other queue has had it
  /// Whether no other stream comes to wait for it, nor it for another one, by the memory that they take: kernels of
  /// ranks wait for each other, and who waits for one of them could be whom it waits for.
  bool is_alone() const { return id < 0; }
  int max_blocks() const { return multiprocessors * blocks_per_multiprocessor; }
};

/// The queue of the device that `furrow::select_device` chose for this thread, gpu:0 if none: on our own stream, or on
/// the one of the thread's innermost `execution_scope` for that device. Look at it anew for each launch: inside a
/// `recording` it is another one.
queue& current_queue();

/// Enqueues: every byte of [data, data + bytes) <- byte.
void fill_bytes(void* data, int byte, std::size_t bytes, const queue& q,
                std::source_location at = std::source_location::current());
/// The same on the current queue, for a whole array.
template <class T>
void fill_bytes(gpu_array<T>& a, int byte, std::source_location at = std::source_location::current()) {
  if (!a.empty()) fill_bytes(a.data(), byte, a.byte_count(), current_queue(), at);
}

/// This thread's device while it lives.
class selected_device {
public:
  explicit selected_device(int ordinal);
  selected_device(const selected_device&) = delete;
  ~selected_device();

private:
  int before_;
};

/// A queue that this thread uses instead of a device's own; the innermost one counts.
struct lent_queue {
  queue q;
  lent_queue* outer = nullptr;
};

/// For a queue on another stream: what no other one has had.
long long next_queue_id();

/// Our own stream of a device, which is chosen.
runtime::stream own_stream(int ordinal);
/// Whether a graph of the caller's records what is enqueued: then nothing outside of it is waited for.
bool is_recorded(runtime::stream stream);
/// What is enqueued on `to` from now on follows what is on `from`.
void join(runtime::stream from, runtime::stream to);

/// `q` is this thread's queue of its device while it lives. What is enqueued there follows what our own stream has, and
/// goes before what that one gets afterwards, unless it is alone.
class used_queue {
public:
  explicit used_queue(const queue& q);
  used_queue(const used_queue&) = delete;
  ~used_queue();

private:
  lent_queue lent_;
};

/// What this thread enqueues while it lives is recorded into a graph, by `runtime::begin_recording` on
/// `stream()`: one that nobody else uses, and that can be recorded, as the legacy stream cannot.
class recording {
public:
  recording();
  recording(const recording&) = delete;
  ~recording();
  runtime::stream stream() const { return lent_.q.stream; }

private:
  lent_queue lent_;
  std::unique_lock<std::mutex> alone_;
};

/// Blocks of `threads` for `n` threads of work: no more than there is work, no more than fill the device `times` over.
inline unsigned blocks_for(index_t n, int threads, const queue& q, int times = blocks_per_multiprocessor) {
  const index_t wanted = (n + threads - 1) / threads, most = index_t(q.multiprocessors) * times;
  return static_cast<unsigned>(wanted < 1 ? 1 : wanted < most ? wanted : most);
}

/// Waits for everything enqueued.
void wait(const queue& q);

/// While one lives, all memory that is released stays with the process (`memory_pools`): for work that takes and
/// releases large arrays, and waits in between.
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
