// SPDX-License-Identifier: BSD-3-Clause
#include "own_queue.hpp"

#include "backends/gpu/pools.hpp"

namespace furrow::gpu {

own_queue_of_rank::own_queue_of_rank(device on) {
  const selected_device here(on.ordinal);
  q_ = current_queue();
  partial_ = gpu_array<double>(index_t(q_.max_blocks()) * max_sums);
  arrived_ = gpu_array<unsigned>(1);
  fill_bytes(arrived_, 0);
  wait(q_);
  q_.partial = partial_.data(), q_.arrived = arrived_.data();
  q_.id = -next_queue_id();
  q_.pool = pools_of(q_.ordinal).lone();
  check(runtime::make_stream(&q_.stream));
}

own_queue_of_rank::~own_queue_of_rank() {
  const selected_device here(q_.ordinal);
  runtime::wait(q_.stream);
  runtime::end(q_.stream);
}

} // namespace furrow::gpu
