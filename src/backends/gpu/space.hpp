// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch.hpp"
#include "loop.hpp"
#include "reduce.hpp"

#include <furrow/space.hpp>

namespace furrow::gpu {

/// Threads of a block of a sweep, and indices whose reads a thread has under way at once.
inline constexpr int sweep_threads = 256, sweep_batch = 4;

/// Every i in [0, n), neighbouring threads on neighbouring indices.
template <class Step, int N>
__global__ void __launch_bounds__(sweep_threads) sweep_kernel(index_t n, Step step, sum_target<N> to) {
  take_turn();
  step.load();
  double mine[N ? N : 1] = {};
  const sums<N> sum{mine, 1};
  const index_t stride = index_t(gridDim.x) * sweep_threads;
  index_t i = index_t(blockIdx.x) * sweep_threads + threadIdx.x;
  for (; i + (sweep_batch - 1) * stride < n; i += sweep_batch * stride) {
    decltype(step.at(i)) values[sweep_batch];
#pragma unroll
    for (int k = 0; k < sweep_batch; ++k) values[k] = step.at(i + k * stride);
#pragma unroll
    for (int k = 0; k < sweep_batch; ++k) step(i + k * stride, values[k], sum);
  }
  for (; i < n; i += stride) step(i, step.at(i), sum);
  finish<sweep_threads, N>(mine, to);
}

template <class F> __global__ void scalars_kernel(F f) {
  take_turn();
  f();
}

/// Vectors in the memory of the current GPU. Meets the concept `vector_space`; everything goes through one queue.
template <class V> class space {
public:
  using value = V;
  using array = gpu_array<V>;

  array make(index_t n) { return array(n); }
  gpu_array<double> make_slots(index_t n) {
    gpu_array<double> slots(n);
    check(cudaMemsetAsync(slots.data(), 0, slots.byte_count(), q_.stream));
    return slots;
  }
  void copy(cview<V> x, view<V> y) { gpu_memory::copy(y.data, x.data, static_cast<std::size_t>(x.size) * sizeof(V)); }

  template <class Step, class... Slots> void sweep(index_t n, Step step, Slots... out) {
    constexpr int count = sizeof...(Slots);
    static_assert(sweep_step<Step, count> && count <= max_sums);
    const unsigned blocks = blocks_for(n, sweep_threads, q_, 8);
    // A long sweep does not come early: its blocks would crowd on the multiprocessors that are free first.
    queue q = q_;
    q.early_launch = q_.early_launch && n <= index_t(blocks) * sweep_threads;
    launch(sweep_kernel<Step, count>, blocks, sweep_threads, 0, q, n, step, target(q, out...));
  }
  void dot(cview<V> x, cview<V> y, slot out) { sweep(x.size, dot_step<V>{x, y}, out); }

  template <class F> void scalars(F f) { launch(scalars_kernel<F>, 1, 1, 0, q_, f); }

  double read(slot s) {
    double value = 0;
    fetch({s.at, 1}, {&value, 1});
    return value;
  }
  void fetch(cview<double> from, view<double> to) {
    copy_bytes(host_memory{}, to.data, gpu_memory{}, from.data, static_cast<std::size_t>(from.size) * sizeof(double));
  }
  void put(cview<double> from, view<double> to) {
    copy_bytes(gpu_memory{}, to.data, host_memory{}, from.data, static_cast<std::size_t>(from.size) * sizeof(double));
  }

  template <class Body, class Until> loop<Body, Until> repeat(Body body, Until until) { return {q_, body, until}; }

private:
  queue& q_ = current_queue();
};

} // namespace furrow::gpu
