// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "kernels.hpp"

#include "backends/row_kernel.hpp"

/// How kernels of rows are started where they are played; what a played format shares.
namespace furrow::play {

/// The device that is played, where a kernel fills it: blocks of an NVIDIA H100 as `gpu::blocks_for` has them.
inline constexpr index_t blocks_of_device = 132 * gpu::blocks_per_multiprocessor;

/// Blocks of `threads` for so many threads of work; `fill`: no more than fill the device, for loops that stride.
inline size3 blocks_for(index_t work, int threads, bool fill = false) {
  const index_t wanted = std::max<index_t>(1, (work + threads - 1) / threads);
  return {static_cast<unsigned>(fill ? std::min(wanted, blocks_of_device) : wanted), 1, 1};
}

/// y <- alpha A x + beta y by W lanes a row; A of played numbers. `block`: its threads, 0 for as many as usual.
template <int W, int Lanes, class V, class A>
kernel_report play_rows(machine& m, std::string_view kernel, const A& a, bool fill, V alpha, cview<V> x, V beta,
                        view<V> y, int block = 0) {
  using N = real<V, Lanes>;
  const cview<N> px = as_played<Lanes>(view<const V>(x));
  const view<N> py = as_played<Lanes>(y);
  const int threads = block ? block : gpu::row_threads;
  return m.play(std::string(kernel), blocks_for(a.shape.rows * W, threads, fill), threads, [&] {
    if (block) gpu::rows_in_blocks_kernel<W, A, N>(a, N(alpha), px, N(beta), py);
    else gpu::rows_kernel<W, A, N, 0>(a, N(alpha), px, N(beta), py, gpu::row_end<N, 0>{});
  });
}

} // namespace furrow::play
