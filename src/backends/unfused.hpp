// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/pass.hpp"

#include <furrow/array.hpp>

#if defined(__CUDACC__)
#include "gpu/space.hpp"
#endif

/// Vector operations one at a time, for every space: a pass each, and scalars that come home at once. What a method
/// costs that is written so, `cg_tutorial` shows.
namespace furrow::unfused {

/// sum = v1 + alpha v2.
template <class V> struct add_step {
  V alpha;
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& sum, V v1, V v2, sums<0>) const { sum = v1 + alpha * v2; }
};

/// sum <- v1 + alpha v2; `sum` may be one of them.
template <vector_space S>
void add(S& s, cview<value_of<S>> v1, value_of<S> alpha, cview<value_of<S>> v2, view<value_of<S>> sum) {
  s.sweep(sum.size, pass(add_step<value_of<S>>{alpha}, out(sum), in(v1), in(v2)));
}

/// x . y. Allocates the number that the pass leaves, copies it home and waits.
template <vector_space S> double dot(S& s, cview<value_of<S>> x, cview<value_of<S>> y) {
  auto sum = s.make_slots(1);
  s.dot(x, y, slot{sum.data()});
  return s.read(slot{sum.data()});
}

#if defined(__CUDACC__)

/// Block b's share of x . y to partial[b].
template <class V>
__global__ void __launch_bounds__(gpu::sweep_threads)
    partial_dots_kernel(cview<V> x, cview<V> y, view<double> partial) {
  __shared__ double room[gpu::sweep_threads / gpu::warp];
  gpu::take_turn();
  double mine = 0;
  const index_t stride = index_t(gridDim.x) * gpu::sweep_threads;
  for (index_t i = index_t(blockIdx.x) * gpu::sweep_threads + threadIdx.x; i < x.size; i += stride)
    mine += double(x[i]) * double(y[i]);
  const double total = gpu::sum_block<gpu::sweep_threads>(mine, room);
  if (threadIdx.x == 0) partial[blockIdx.x] = total;
}

/// The same on a GPU: allocates a partial sum a block, copies them home, waits, and adds them in their order.
template <class V> double dot(gpu::space<V>&, cview<V> x, cview<V> y) {
  const gpu::queue& q = gpu::current_queue();
  const unsigned blocks = gpu::blocks_for(x.size, gpu::sweep_threads, q);
  gpu_array<double> partial(blocks);
  gpu::launch(partial_dots_kernel<V>, blocks, gpu::sweep_threads, 0, q, x, y, as_view(partial));
  double total = 0;
  for (const double share : host_array<double>(partial)) total += share;
  return total;
}

#endif

} // namespace furrow::unfused
