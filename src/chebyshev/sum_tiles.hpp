// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "arithmetic.hpp"
#include "lengths.hpp"

/// How the sums of a product are cut for a GPU, and what a thread does: plain functions, so that the CPU plays them.
///
///            k ->  coefficients, `tile` to a block, `outputs` neighbouring ones to a lane
///    i  |  ..warp..
///    |  |  ..warp..    a stage: `steps` terms for each warp of the block, which holds tile + stage elements of q
///    v  |  ........    a chunk: some stages; each chunk leaves a partial sum, added in the order of the chunks
///
/// A thread keeps a window of q in registers that slides by one `load` while it takes as many elements of p: a load of
/// q and one of p (the same for all threads) feed outputs * load multiply-adds. 48 and 80 bytes from thread to thread
/// are odd multiples of 16, so loads of 16 bytes meet no bank twice.
namespace furrow::chebyshev {

template <class V> struct sum_tile_of {
  static constexpr int load = 16 / int(sizeof(V));
  static constexpr int outputs = sizeof(V) == 4 ? 12 : 10;
  static constexpr int window = outputs + load;
  static constexpr int most_steps = sizeof(V) == 4 ? 192 : 168; ///< of a warp in a stage
  static constexpr int warps = 8;
  static constexpr int threads = 32 * warps;
  static constexpr int tile = 32 * outputs;
  static constexpr int most_stage = most_steps * warps;
  static_assert(window % load == 0 && most_steps % window == 0);
};

/// The cut of one product.
struct sum_plan {
  product_shape shape;
  int tile = 0, stage = 0;
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
  FURROW_HD index_t chunk_terms() const { return stages * stage; }
  FURROW_HD index_t chunks_of(index_t t) const {
    const index_range r = tile_terms(t);
    return (r.end - r.begin + chunk_terms() - 1) / chunk_terms();
  }
  FURROW_HD index_range chunk(index_t t, index_t c) const {
    const index_range r = tile_terms(t);
    const index_t begin = r.begin + c * chunk_terms(), end = begin + chunk_terms();
    return {begin, end < r.end ? end : r.end};
  }
};

/// Blocks that a multiprocessor holds at a time, and blocks that a cut aims at where there is plenty of work, so that
/// nobody waits long for the last one.
inline constexpr index_t blocks_held = 3, many_blocks = 32;

/// One wave of blocks with one stage each, as short as all of them can have it; where the longest stage is too short
/// for that, chunks of several. The sums depend on the number of multiprocessors, which must be that of the device.
template <class T> sum_plan cut_sums(const product_shape& shape, index_t count, index_t multiprocessors) {
  sum_plan plan{shape, T::tile, 0, (shape.nonzero() + T::tile - 1) / T::tile, 1, 0};
  constexpr int least = T::window * T::warps;
  double all = 0; // terms
  index_t longest = 1;
  for (index_t t = 0; t < plan.tiles; ++t) {
    const index_range r = plan.tile_terms(t);
    all += double(r.end - r.begin) * double(count);
    longest = r.end - r.begin > longest ? r.end - r.begin : longest;
  }
  const auto blocks = [&] {
    double sum = 0;
    for (index_t t = 0; t < plan.tiles; ++t) sum += double(plan.chunks_of(t));
    return sum * double(count);
  };
  const double wave = double(blocks_held * multiprocessors);
  const index_t whole = (longest + least - 1) / least * least; // a tile needs no more
  const int most = whole < T::most_stage ? int(whole) : T::most_stage;
  plan.stage = most;
  if (all <= wave * most) {
    plan.stage = (int(all / wave / least) + 1) * least;
    while (plan.stage < most && blocks() > wave) plan.stage += least;
  }
  if (plan.stage > most) plan.stage = most;
  plan.stages = index_t(all / plan.stage / double(many_blocks * multiprocessors)) + 1;
  for (index_t t = 0; t < plan.tiles; ++t) {
    const index_t n = plan.chunks_of(t);
    if (n > plan.chunks) plan.chunks = n;
  }
  return plan;
}

/// `load` neighbouring values, moved together.
template <class V> struct alignas(16) quad { V at[16 / sizeof(V)]; };

/// One stage of one lane, `steps` terms a warp: sum[r] += sum over its warp's terms s of p[s] q[lane * outputs + r - s
/// + stage - 1].
template <class V> FURROW_HD void add_stage(const V* p, const V* q, int steps, int rank, V* sum) {
  using t = sum_tile_of<V>;
  const int lane = rank % 32, warp = rank / 32;
  p += warp * steps;
  q += (t::warps - 1 - warp) * steps;
  V window[t::window];
  const V* const base = q + lane * t::outputs + steps - t::load;
  const auto load = [](const V* from) { return *reinterpret_cast<const quad<V>*>(from); };
  FURROW_UNROLL()
  for (int x = t::load; x < t::window; x += t::load) {
    const quad<V> next = load(base + x);
    FURROW_UNROLL()
    for (int v = 0; v < t::load; ++v) window[x + v] = next.at[v];
  }
  FURROW_UNROLL(1)
  for (int s = 0; s < steps; s += t::window) {
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
  const V v = a(r.begin + x);
  return r.begin + x < r.end ? v : V(0);
}
template <class V> FURROW_HD V stage_q(const factor<V>& b, index_t k, index_t i, int stage, int x) {
  return b(k - i - stage + 1 + x);
}

} // namespace furrow::chebyshev
