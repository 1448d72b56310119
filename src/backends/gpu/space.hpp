// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "basis_pair.hpp"
#include "launch.hpp"
#include "loop.hpp"
#include "reduce.hpp"

#include <furrow/space.hpp>

#include <algorithm>

namespace furrow::gpu {

/// Threads of a block of a sweep, and indices whose reads a thread has under way at once.
inline constexpr int sweep_threads = 256, sweep_batch = 4;

/// A thread's share of every i in [0, n), neighbouring threads on neighbouring indices, and of the N sums. A batch that
/// sticks out is a batch, too: most passes of a million indices are one of them, and indices one by one would each wait
/// for memory.
template <int N, class Step> __device__ void sweep_share(index_t n, Step& step, double* mine) {
  step.load();
  const sums<N> sum{mine, 1};
  const index_t stride = index_t(gridDim.x) * sweep_threads;
  for (index_t i = index_t(blockIdx.x) * sweep_threads + threadIdx.x; i < n; i += sweep_batch * stride) {
    decltype(step.at(i)) values[sweep_batch];
#pragma unroll
    for (int k = 0; k < sweep_batch; ++k)
      if (i + k * stride < n) values[k] = step.at(i + k * stride);
#pragma unroll
    for (int k = 0; k < sweep_batch; ++k)
      if (i + k * stride < n) step(i + k * stride, values[k], sum);
  }
}

template <class Step, int N>
__global__ void __launch_bounds__(sweep_threads) sweep_kernel(index_t n, Step step, sum_target<N> to) {
  take_turn();
  double mine[N ? N : 1] = {};
  sweep_share<N>(n, step, mine);
  finish<sweep_threads, N>(mine, to);
}

template <class F> __global__ void scalars_kernel(F f) {
  take_turn();
  f();
}

/// Vectors in the memory of the current GPU. Meets the concept `vector_space`; everything goes through the thread's
/// queue of that device.
template <class V> class space {
public:
  using value = V;
  using array = gpu_array<V>;

  array make(index_t n) { return array(n); }
  gpu_array<double> make_slots(index_t n) {
    gpu_array<double> slots(n);
    check(runtime::fill(slots.data(), 0, slots.byte_count(), current_queue().stream));
    return slots;
  }
  void copy(cview<V> x, view<V> y) {
    const std::size_t bytes = static_cast<std::size_t>(x.size) * sizeof(V);
    if (bytes) check(runtime::copy(y.data, x.data, bytes, runtime::way::inside, current_queue().stream));
  }

  template <class Step, class... Slots> void sweep(index_t n, Step step, Slots... out) {
    constexpr int count = sizeof...(Slots);
    static_assert(sweep_step<Step, count> && count <= max_sums);
    launch_sweep<(count > 0)>(sweep_kernel<Step, count>, n, step, target(current_queue(), out...));
  }
  void dot(cview<V> x, cview<V> y, slot out) { sweep(x.size, dot_step<V>{x, y}, out); }

  template <class E = V> gpu_array<E> make_basis(index_t n, index_t most) {
    furrow::check(most <= most_basis, fault::usage, "a basis on a GPU has at most 767 vectors");
    const index_t sums = std::max((most + 1) * projection_blocks(n), (2 * most + pair_beside) * pair_blocks(n));
    if (projections_.size() < sums) projections_ = gpu_array<double>(sums);
    length_ = std::max(length_, static_cast<int>(most) + 1);
    return gpu_array<E>(basis<E>::stride_of(n) * most);
  }
  template <class E> void project(const basis<E>& all, slot count, cview<V> w, slot h, slot squares) {
    launch_projection(all, count, slot{}, w.data, h, squares);
  }
  template <class E>
  void subtract_and_project(const basis<E>& all, slot count, slot h, view<V> w, slot g, slot squares) {
    launch_projection(all, count, h, w.data, g, squares);
  }
  template <class E, class Step, class... Slots>
  void combine(const basis<E>& all, slot count, slot h, Step step, Slots... out) {
    constexpr int sums = sizeof...(Slots);
    static_assert(sums <= max_sums);
    queue q = current_queue();
    const unsigned blocks = blocks_for(all.n, basis_threads, q, 8);
    unless_long(q, all.n <= index_t(blocks) * basis_threads);
    launch(combine_kernel<V, E, Step, sums>, blocks, basis_threads, 0, q, all, count.at, h.at, step, target(q, out...));
  }

  /// Blocks of these two passes fill a multiprocessor: those of a long pass, too, may come early, and cannot crowd.
  template <class E> void project_two(const basis<E>& all, slot count, cview<V> u, cview<V> w, slot g) {
    const queue q = current_queue();
    launch(project_two_kernel<V, E>, pair_blocks(all.n), pair_threads, 0, q, all, static_cast<const double*>(count.at),
           u.data, w.data, g.at, projections_.data(), q.arrived);
  }
  template <class E, class Step, class... Slots>
  void combine_two(const basis<E>& all, slot count, slot h, Step step, Slots... out) {
    constexpr int sums = sizeof...(Slots);
    static_assert(sums <= max_sums);
    const queue q = current_queue();
    const unsigned blocks = blocks_for(all.n, combine_two_tile, q, combine_two_blocks);
    const int bytes = 2 * (length_ + combine_two_most) * static_cast<int>(sizeof(V));
    launch(combine_two_kernel<V, E, Step, sums>, blocks, basis_threads, bytes, q, all,
           static_cast<const double*>(count.at), static_cast<const double*>(h.at), step, target(q, out...));
  }

  template <class F> void scalars(F f) { launch(scalars_kernel<F>, 1, 1, 0, current_queue(), f); }

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

  template <class Body, class Until> loop<Body, Until> repeat(Body body, Until until, bool waits = false) {
    return {body, until, waits};
  }
  /// With what may run beside `until`, where there is any.
  template <class Body, class Until, class Beside>
  loop<Body, Until, Beside> repeat(Body body, Until until, bool waits, Beside beside, bool is_any) {
    return {body, until, waits, false, beside, is_any};
  }
  static constexpr bool repeats_beside = true;

protected:
  template <bool Sums, class Kernel, class Step, class... More>
  static void launch_sweep(Kernel kernel, index_t n, const Step& step, const More&... more) {
    queue q = current_queue();
    // Each block more ends its sums, too: of 260,000 indices a pass with two took 6.1 us by 1,056 blocks, 4.2 by 264.
    const unsigned blocks =
        Sums ? blocks_for(n, sweep_threads * sweep_batch, q, 4) : blocks_for(n, sweep_threads, q, 8);
    unless_long(q, n <= index_t(blocks) * sweep_threads);
    launch(kernel, blocks, sweep_threads, 0, q, n, step, more...);
  }

private:
  /// A long pass does not come early: its blocks would crowd on the multiprocessors that are free first.
  static void unless_long(queue& q, bool is_short) { q.early_launch = q.early_launch && is_short; }
  static unsigned projection_blocks(index_t n) { return blocks_for(n, basis_tile, current_queue(), basis_blocks); }
  /// Two rows a thread at least, or there are fewer blocks.
  static unsigned pair_blocks(index_t n) { return blocks_for(n, 2 * pair_threads, current_queue(), 1); }
  template <class E, class W>
  void launch_projection(const basis<E>& all, slot count, slot h, W* w, slot g, slot squares) {
    queue q = current_queue();
    const unsigned blocks = projection_blocks(all.n);
    unless_long(q, all.n <= index_t(blocks) * basis_tile);
    const int bytes = basis_warps * length_ * static_cast<int>(sizeof(double));
    launch(project_kernel<V, E, W>, blocks, basis_threads, bytes, q, all, static_cast<const double*>(count.at),
           static_cast<const double*>(h.at), w, length_,
           projection_target{g.at, squares.at, projections_.data(), q.arrived});
  }

  gpu_array<double> projections_; ///< partial sums of `project`
  int length_ = 0;                ///< sums of the longest one
};

} // namespace furrow::gpu
