// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "ending.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace furrow::nccl {

/// How often a rank's GPU has begun to talk to others, and ended. Sums and halos by themselves: they may overlap.
struct counts {
  std::uint64_t sums_begun = 0, sums_ended = 0, halos_begun = 0, halos_ended = 0;
  bool operator==(const counts&) const = default;
  bool waits() const { return sums_begun != sums_ended || halos_begun != halos_ended; }
};

/// A thread beside a rank whose GPU waits for others in kernels of a library, which nothing but the host can end. It
/// looks at what has been counted, asks the library whether it failed, and hears what other ranks of the process say;
/// where a wait has taken too long, or something failed, it says so to all of them, and gives up.
class watch {
public:
  struct who {
    std::function<counts()> look;         ///< called about twice a second
    std::function<std::string()> failure; ///< empty: all is well
    std::function<void()> give_up;        ///< ends what the GPU waits for
    std::string name;                     ///< "gpu:0 (rank 0)"
  };
  watch(std::shared_ptr<ending> end, who of, std::chrono::milliseconds patience);
  watch(const watch&) = delete;
  ~watch(); ///< waits until it is over

private:
  void run();
  void look(std::chrono::steady_clock::time_point now);
  bool is_over(std::chrono::milliseconds at_most);

  std::shared_ptr<ending> end_;
  who of_;
  std::chrono::milliseconds patience_;
  counts last_;
  std::chrono::steady_clock::time_point since_;
  std::mutex busy_;
  std::condition_variable stir_;
  bool over_ = false;
  std::thread thread_; ///< begins when all else is there
};

} // namespace furrow::nccl
