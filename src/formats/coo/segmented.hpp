// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "segmented_kernels.hpp"

namespace furrow::coo_format {

/// y += alpha A x on the GPU, for every format that has a part in triplets. Each element of y has one writer at a time,
/// so the bits repeat. Without entries it costs nothing.
template <class V> class segmented_sum {
public:
  explicit segmented_sum(index_t nnz) : tiles_((nnz + tile_entries - 1) / tile_entries), carry_(tiles_) {}

  void add(const triplets<V, cview>& a, V alpha, cview<V> x, view<V> y) const {
    if (tiles_ == 0) return;
    gpu::queue& q = gpu::current_queue();
    segmented_kernel<<<static_cast<unsigned>(tiles_), threads, 0, q.stream>>>(a, alpha, x, y, as_view(carry_));
    const auto blocks = static_cast<unsigned>((tiles_ * gpu::warp + threads - 1) / threads);
    carry_kernel<<<blocks, threads, 0, q.stream>>>(a, alpha, y, as_cview(carry_));
    gpu::check_launch();
  }

private:
  index_t tiles_;
  mutable gpu_array<V> carry_; ///< a tile's sum of the row that it ends in
};

} // namespace furrow::coo_format
