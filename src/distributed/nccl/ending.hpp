// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/communicator.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

namespace furrow::nccl {

/// Whether what ranks of one process do together has ended before its time, and the first sentence that said why.
class ending {
public:
  bool has_come() const { return came_.load(std::memory_order_acquire); }
  void say(const std::string& why) {
    const std::lock_guard lock(busy_);
    if (why_.empty()) why_ = why;
    came_.store(true, std::memory_order_release);
  }
  /// Throws `fault::device` with that sentence where it has.
  void check() const {
    if (!has_come()) return;
    const std::lock_guard lock(busy_);
    throw error(fault::device, why_);
  }

private:
  std::atomic<bool> came_ = false;
  mutable std::mutex busy_;
  std::string why_;
};

/// One for the ranks of each process. All ranks call it.
std::shared_ptr<ending> ending_of_process(communicator& c);

} // namespace furrow::nccl
