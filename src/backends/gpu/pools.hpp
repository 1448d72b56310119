// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "runtime_cuda.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

namespace furrow::gpu {

/// Where the memory of a device comes from: pools of our own, for other libraries rely on what the default one keeps.
/// What is released stays with them up to `keep_gpu_memory` bytes: the driver takes a millisecond for a gigabyte that
/// it gives, and more for one that it gets back (H100), and some 3 us for a megabyte.
class memory_pools {
public:
  explicit memory_pools(int ordinal);

  runtime::pool usual() const { return usual_; }
  /// For queues that are alone: no stream waits there for what another one has released.
  runtime::pool lone() const { return lone_; }

  /// So many bytes of arrays more, or fewer. What the pools keep follows.
  void use(std::int64_t bytes);
  /// Whether they keep all that is released, by how many ask for it.
  void keep_all(bool yes);
  void keep_as_told();
  /// How much memory the device has: an eighth of it is kept where nobody said how much.
  void has(std::int64_t total);

  /// Bytes that are kept and not in use.
  std::int64_t idle() const;
  /// Gives them back.
  void give_back() const;
  /// See `gpu_takes`.
  bool takes(double bytes);

private:
  std::int64_t sum_of(runtime::code (*bytes_of)(runtime::pool, std::uint64_t*)) const;

  int ordinal_;
  runtime::pool usual_, lone_;
  std::atomic<std::int64_t> share_;      ///< what is kept where nobody said how much
  std::atomic<std::int64_t> in_use_ = 0; ///< bytes of arrays
  std::atomic<std::int64_t> told_ = 0;   ///< the same, when the pools were last told what to keep
  std::atomic<int> keepers_ = 0;
  std::mutex room_; ///< of what follows
  std::chrono::steady_clock::time_point asked_at_{};
  double was_free_ = -1; ///< bytes that could be had then; below 0: nobody asked
  std::int64_t was_used_ = 0;
};

/// Of a device, which is opened for it.
memory_pools& pools_of(int ordinal);
/// Of one that is open; null where it is not.
memory_pools* pools_if_open(int ordinal);
std::vector<int> open_ordinals();

} // namespace furrow::gpu
