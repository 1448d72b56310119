// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <mutex>

namespace furrow::gpu {

/// Pinned memory for a device, in pieces, by one copy at a time. Stays until the end.
class stage {
public:
  static constexpr std::size_t piece = std::size_t(4) << 20; ///< bytes of one
  /// With 3 of them threads wait for room: 47 GB/s in place of 51 (H200).
  static constexpr std::size_t pieces = 4;

  static stage& of(int ordinal) {
    static auto& guard = *new std::mutex;
    static auto& stages = *new std::map<int, stage>;
    const std::lock_guard lock(guard);
    return stages[ordinal];
  }

  /// With this device as the current one. False where it cannot be had, which is asked once.
  bool begin() {
    if (!asked_) {
      asked_ = true;
      for (runtime::event& e : moved_) check(runtime::make_event(&e));
      void* all = nullptr;
      if (runtime::take_pinned(&all, piece * pieces) == runtime::success) room_ = static_cast<char*>(all);
      else runtime::last_failure();
    }
    return room_ != nullptr;
  }
  /// The number of the next piece; those of numbers that differ by `pieces` share their room.
  std::size_t next() const { return next_; }
  void took(std::size_t count) { next_ += count; }
  char* room(std::size_t k) const { return room_ + k % pieces * piece; }
  runtime::event moved(std::size_t k) const { return moved_[k % pieces]; } ///< over once piece k is where it goes
  std::mutex busy;

private:
  bool asked_ = false;
  char* room_ = nullptr;
  std::size_t next_ = 0;
  std::array<runtime::event, pieces> moved_{};
};

} // namespace furrow::gpu
