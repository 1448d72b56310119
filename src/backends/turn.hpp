// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/device.hpp>

namespace furrow {

/// The length of a call that runs on `where`, a kept matrix's or solver's: `where` is the thread's device, and on a GPU
/// other threads wait for their turn. What this turn enqueues follows what the turns before it enqueued on other
/// streams of that GPU: scratch memory serves one after the other, and kernels whose blocks wait for each other have
/// the GPU to themselves. Turns of one thread nest. The thread's device and CUDA's are as before when it ends. On the
/// CPU it does nothing.
class turn {
public:
  explicit turn(device where);
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  ~turn(); // NOLINT(performance-trivially-destructible): in a build without GPUs alone

private:
  device where_;
  int selected_before_ = 0, current_before_ = 0;
};

} // namespace furrow
