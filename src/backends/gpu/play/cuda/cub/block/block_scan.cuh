// SPDX-License-Identifier: BSD-3-Clause
// cub::BlockScan as far as played kernels use it: BLOCK_SCAN_RAKING of CCCL 3.0 step by step (block_scan_raking.cuh and
// warp_scan_shfl.cuh there), so that its sums have the same bits.
#pragma once
#include "backends/gpu/play/number.hpp"
#include "backends/runs.hpp"

namespace cub {

template <class T, int Threads> class BlockScan {
public:
  struct TempStorage {};
  explicit BlockScan(TempStorage&) {}

  /// output <- first op (inputs of the threads before), total <- all inputs. By all threads of the block.
  template <class Op> void ExclusiveScan(T input, T& output, T first, Op op, T& total) {
    namespace play = furrow::play;
    const int thread = static_cast<int>(play::running->thread.x), raking = play::running->wave;
    const int segment = Threads / raking, apart = segment + (segment % 2 == 0 && segment > 2 ? 1 : 0);
    T* const grid = static_cast<T*>(play::share("scan", raking * apart, sizeof(T)));
    T* const sum = static_cast<T*>(play::share("scan_total", 1, sizeof(T)));
    T* const mine = grid + thread / segment * apart + thread % segment;
    *mine = input;
    play::wait_for_block();
    if (thread < raking) {
      T* const part = grid + thread * apart;
      T item[most_segment];
      for (int i = 0; i < segment; ++i) item[i] = part[i];
      T partial = item[0];
      for (int i = 1; i < segment; ++i) partial = op(partial, item[i]);
      T before;
      of_warp(partial, before, first, op, total);
      for (int i = 0; i < segment; ++i) {
        part[i] = before;
        before = op(before, item[i]);
      }
      if (thread == 0) *sum = total;
    }
    play::wait_for_block();
    output = *mine;
    total = *sum;
  }

private:
  static constexpr int most_segment = Threads / 32;

  /// Of the lanes of a warp (Kogge and Stone).
  template <class Op> static void of_warp(T input, T& output, T first, Op op, T& total) {
    const int lane = furrow::play::running->rank, lanes = furrow::play::running->wave;
    T upto = input;
    for (int distance = 1; distance < lanes; distance *= 2) {
      const T left = from(upto, lane - distance);
      if (lane >= distance) upto = op(left, upto);
    }
    total = from(upto, lanes - 1);
    upto = op(first, upto);
    output = from(upto, lane - 1);
    if (lane == 0) output = first;
  }
  template <class V> static furrow::run<V> from(furrow::run<V> value, int rank) {
    if (furrow::play::running->wave == 64) return from<64>(value, rank);
    return from<32>(value, rank);
  }
  template <int W, class V> static furrow::run<V> from(furrow::run<V> value, int rank) {
    return {from_lane<W>(value.sum, rank), furrow::play::from_rank<W>(value.fresh, rank)};
  }
};

} // namespace cub
