// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "arithmetic.hpp"
#include "lengths.hpp"

/// How the sums of a product are cut for a GPU, and what a thread does: plain functions, so that the CPU plays them.
///
///            k ->  coefficients, `tile` to a block, `outputs` neighbouring ones to a thread
///    i  |  ........
///    |  |  ..block.    a stage: `steps` terms, for which the block holds steps elements of p and tile + steps of q
///    v  |  ........    a chunk: some stages; each chunk leaves a partial sum, added in the order of the chunks
///
/// A thread keeps a window of q in registers that slides by one `load` while it takes as many elements of p: a load of
/// q and one of p (the same for all threads) feed outputs * load multiply-adds. 48 and 80 bytes from thread to thread
/// are odd multiples of 16, so loads of 16 bytes meet no bank twice.
/// Only the device's compiler is told to unroll; the host's does not know the word.
#if defined(__CUDA_ARCH__)
#define FURROW_PRAGMA(text) _Pragma(#text)
#define FURROW_UNROLL(times) FURROW_PRAGMA(unroll times)
#else
#define FURROW_UNROLL(times)
#endif

namespace furrow::chebyshev {

template <class V> struct sum_tile_of {
  static constexpr int load = 16 / int(sizeof(V));
  static constexpr int outputs = sizeof(V) == 4 ? 12 : 10;
  static constexpr int window = outputs + load;
  static constexpr int steps = sizeof(V) == 4 ? 128 : 120;
  static constexpr int threads = 128;
  static constexpr int tile = threads * outputs;
  static_assert(window % load == 0 && steps % window == 0);
};

/// The cut of one product.
struct sum_plan {
  product_shape shape;
  int tile = 0, steps = 0;
  index_t tiles = 0;  ///< of coefficients
  index_t stages = 0; ///< of a chunk
  index_t chunks = 0; ///< of the tile that has most

  FURROW_HD index_t tile_end(index_t t) const {
    const index_t end = (t + 1) * tile;
    return end < shape.nonzero() ? end : shape.nonzero();
  }
  FURROW_HD index_range tile_terms(index_t t) const {
    return terms(shape.na, shape.nb, t * tile, tile_end(t) - t * tile);
  }
  FURROW_HD index_t chunk_steps() const { return stages * steps; }
  FURROW_HD index_t chunks_of(index_t t) const {
    const index_range r = tile_terms(t);
    return (r.end - r.begin + chunk_steps() - 1) / chunk_steps();
  }
  FURROW_HD index_range chunk(index_t t, index_t c) const {
    const index_range r = tile_terms(t);
    const index_t begin = r.begin + c * chunk_steps(), end = begin + chunk_steps();
    return {begin, end < r.end ? end : r.end};
  }
};

/// Chunks so long that there are about `blocks` of them in all; the sums depend on it, so it must be a constant of the
/// device.
inline sum_plan cut_sums(const product_shape& shape, index_t count, int tile, int steps, index_t blocks) {
  sum_plan plan{shape, tile, steps, (shape.nonzero() + tile - 1) / tile, 1, 0};
  double all = 0; // stages
  for (index_t t = 0; t < plan.tiles; ++t) all += double(plan.chunks_of(t));
  plan.stages = index_t(all * double(count) / double(blocks)) + 1;
  for (index_t t = 0; t < plan.tiles; ++t) {
    const index_t n = plan.chunks_of(t);
    if (n > plan.chunks) plan.chunks = n;
  }
  return plan;
}

/// `load` neighbouring values, moved together.
template <class V> struct alignas(16) quad { V at[16 / sizeof(V)]; };

/// One stage of one thread: sum[r] += sum over s < steps of p[s] q[rank * outputs + r - s + steps - 1].
template <class V> FURROW_HD void add_stage(const V* p, const V* q, int rank, V* sum) {
  using t = sum_tile_of<V>;
  V window[t::window];
  const V* const base = q + rank * t::outputs + t::steps - t::load;
  const auto load = [](const V* from) { return *reinterpret_cast<const quad<V>*>(from); };
  FURROW_UNROLL()
  for (int x = t::load; x < t::window; x += t::load) {
    const quad<V> next = load(base + x);
    FURROW_UNROLL()
    for (int v = 0; v < t::load; ++v) window[x + v] = next.at[v];
  }
  FURROW_UNROLL(1)
  for (int s = 0; s < t::steps; s += t::window) {
    FURROW_UNROLL()
    for (int slide = 0; slide < t::window; slide += t::load) {
      const quad<V> next = load(base - s - slide), factors = load(p + s + slide);
      FURROW_UNROLL()
      for (int v = 0; v < t::load; ++v) window[(2 * t::window - slide + v) % t::window] = next.at[v];
      FURROW_UNROLL()
      for (int v = 0; v < t::load; ++v) FURROW_UNROLL()
      for (int r = 0; r < t::outputs; ++r)
        sum[r] += factors.at[v] * window[(2 * t::window - slide + r + t::load - 1 - v) % t::window];
    }
  }
}

/// What a stage holds: element x of p and of q, for coefficients from k on and terms [i, end).
template <class V> FURROW_HD V stage_p(const factor<V>& a, index_range r, int x) {
  return r.begin + x < r.end ? a(r.begin + x) : V(0);
}
template <class V> FURROW_HD V stage_q(const factor<V>& b, index_t k, index_t i, int x) {
  return b(k - i - sum_tile_of<V>::steps + 1 + x);
}

} // namespace furrow::chebyshev
