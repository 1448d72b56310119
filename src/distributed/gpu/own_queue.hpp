// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/queue.hpp"

#include <furrow/device.hpp>

namespace furrow::gpu {

/// A queue of a rank alone: another stream of its GPU, and other scratch memory, so that whoever else works there, also
/// another rank, shares nothing with it and never comes to wait for it.
class own_queue_of_rank {
public:
  explicit own_queue_of_rank(device on);
  own_queue_of_rank(const own_queue_of_rank&) = delete;
  ~own_queue_of_rank();

  const queue& get() const { return q_; }

private:
  queue q_;
  gpu_array<double> partial_;
  gpu_array<unsigned> arrived_;
};

} // namespace furrow::gpu
