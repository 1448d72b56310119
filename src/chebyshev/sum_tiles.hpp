// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "arithmetic.hpp"
#include "lengths.hpp"

#include <furrow/value.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

/// How the sums of a product are cut for a GPU, and what a lane does: plain functions, so that the CPU plays them.
///
/// With k = k0 + y + stride x the sum of p_i q_(k-i) over i = s + stride x is a product of matrices,
///
///     c[y, x] += sum over s of Q[y, s] P[s, x],      Q[y, s] = q[k0 + y - s],      P[s, x] = p[s + stride x],
///
/// for the matrix units, which multiply doubles: 16 x 8 by 8 x 8 numbers at a time (m16n8k8). A warp has `blocks`
/// of 16 rows y, 8 columns x, and takes 8 terms s a step. Q is the same along its diagonals: from step to step all
/// blocks but one find theirs in the registers of their neighbour, so that a step loads one block of Q and one of P.
/// The warps of a block share the terms of a stage, in two parts where a block is alone: while they multiply what the
/// first ones, the head, need, warps that do nothing else bring the rest. Single precision is summed in double as well,
/// and rounded once.
namespace furrow::chebyshev {

struct sum_tile {
  static constexpr int blocks = 4, columns = 8, step = 8;
  static constexpr int stride = 16 * blocks, size = stride * columns; ///< coefficients of a tile
  static constexpr int warps = 8, threads = 32 * warps;
  static constexpr int most_stage = 2560, least_stage = 320; ///< terms
  static constexpr int most_head = 320;                      ///< of a stage that comes in two parts
  /// Elements that a stage of so many terms reads.
  FURROW_HD static constexpr int of_p(int stage) { return stage + stride * (columns - 1); }
  FURROW_HD static constexpr int of_q(int stage) { return stage + stride; }
  /// Where an element of p is: columns are 32 bytes off each other's banks.
  FURROW_HD static constexpr int place(int x) { return x + int(unsigned(x) / stride) * 4; }
};
inline constexpr int room_of_p = sum_tile::place(sum_tile::of_p(sum_tile::most_stage) + sum_tile::stride);
inline constexpr int room_of_q = sum_tile::of_q(sum_tile::most_stage);

/// Work of a block: the terms from `begin` on of one tile, one stage after the other; one of its `chunks`.
struct alignas(16) sum_piece {
  std::int32_t tile, begin, terms;
  std::uint16_t chunk, chunks;
};

/// Terms of a tile, those included that only some of its coefficients have.
inline index_range tile_terms(const product_shape& shape, index_t tile) {
  const index_t k = tile * sum_tile::size, low = k - (shape.nb - 1), high = k + sum_tile::stride - 1 + shape.nb - 1;
  const index_t first = 1 - shape.na - sum_tile::stride * (sum_tile::columns - 1);
  return {low > first ? low : first, (high < shape.na - 1 ? high : shape.na - 1) + 1};
}

/// The cut of one product, the same for all of a batch.
struct sum_plan {
  int stage = sum_tile::least_stage; ///< terms; a multiple of the step
  index_t tiles = 0, chunks = 0;     ///< chunks: of the tile that has most
  bool alone = false;                ///< a block has one stage, and a multiprocessor of its own
  std::vector<sum_piece> pieces;     ///< chunks of a tile follow each other
};

/// As many blocks as a multiprocessor gets where there is plenty of work, so that nobody waits long for the last one.
inline constexpr index_t many_blocks = 32;

/// One stage a block and the same number of blocks for each multiprocessor, as short as can be; where the longest stage
/// is too short for that, blocks of several. The sums depend on the number of multiprocessors, which must be that of
/// the device.
inline sum_plan cut_sums(const product_shape& shape, index_t count, index_t multiprocessors) {
  using t = sum_tile;
  sum_plan plan;
  plan.tiles = (shape.nonzero() + t::size - 1) / t::size;
  std::vector<index_t> terms; // of each tile
  double all = 0;
  index_t most = t::least_stage; // no tile needs more
  for (index_t tile = 0; tile < plan.tiles; ++tile) {
    const index_range r = tile_terms(shape, tile);
    terms.push_back(r.end - r.begin);
    all += double(count) * double(terms.back());
    most = terms.back() > most ? terms.back() : most;
  }
  if (most > t::most_stage) most = t::most_stage;
  const auto chunks_of = [&](index_t tile, index_t length) { return (terms[tile] + length - 1) / length; };
  const auto blocks = [&](index_t length) {
    double sum = 0;
    for (index_t tile = 0; tile < plan.tiles; ++tile) sum += double(chunks_of(tile, length));
    return sum * double(count);
  };
  const double one_each = double(multiprocessors), wanted = (std::floor(all / one_each / t::most_stage) + 1) * one_each;
  while (plan.stage < most && blocks(plan.stage) > wanted) plan.stage += t::step;
  const index_t rounds = index_t(all / plan.stage / (many_blocks * one_each)) + 1, length = rounds * plan.stage;
  for (index_t tile = 0; tile < plan.tiles; ++tile) {
    const index_range r = tile_terms(shape, tile);
    const index_t chunks = chunks_of(tile, length);
    plan.chunks = chunks > plan.chunks ? chunks : plan.chunks;
    // whole stages; where there is one for each chunk, the chunks of a tile are equal
    const index_t unit = rounds > 1 ? plan.stage : t::step;
    const index_t each = rounds > 1 ? length : ((r.end - r.begin + chunks - 1) / chunks + unit - 1) / unit * unit;
    index_t begin = r.begin;
    for (index_t chunk = 0; chunk < chunks; ++chunk) {
      const index_t left = (r.end - begin + unit - 1) / unit * unit;
      plan.pieces.push_back({std::int32_t(tile), std::int32_t(begin), std::int32_t(left < each ? left : each),
                             std::uint16_t(chunk), std::uint16_t(chunks)});
      begin += each;
    }
  }
  plan.alone = rounds == 1 && index_t(plan.pieces.size()) * count <= multiprocessors;
  return plan;
}

/// Element x of a factor's even extension. On a GPU in five instructions, of which the compiler makes ten: a block that
/// is alone executes them once, and what it executes once comes from the memory, like data.
template <class V> FURROW_HD V element(const V* data, int size, int x) {
#if defined(__CUDA_ARCH__)
  V value;
  if constexpr (!is_wide<V>)
    asm volatile(
        "{.reg .pred p; .reg .b32 k; .reg .b64 at; abs.s32 k, %1; setp.lt.u32 p, k, %2; mad.wide.u32 at, k, 4, %3;"
        " mov.b32 %0, 0; @p ld.global.f32 %0, [at];}"
        : "=f"(value)
        : "r"(x), "r"(size), "l"(data));
  else
    asm volatile(
        "{.reg .pred p; .reg .b32 k; .reg .b64 at; abs.s32 k, %1; setp.lt.u32 p, k, %2; mad.wide.u32 at, k, 8, %3;"
        " mov.b64 %0, 0; @p ld.global.f64 %0, [at];}"
        : "=d"(value)
        : "r"(x), "r"(size), "l"(data));
  return value;
#else
  const int k = std::abs(x);
  return k < size ? data[k] : V(0);
#endif
}

/// A factor's elements from `first` on in its even extension, those of one of so many threads: loaded and then put into
/// the room of the block, so that all loads are under way before the first store. Most: elements there may be.
template <class V, int Most, int Threads> struct staged {
  static constexpr int count = (Most + Threads - 1) / Threads;
  static_assert(Threads % sum_tile::stride == 0); // so that places of one thread are equally far apart
  V value[count];

  FURROW_HD void load(const V* data, int size, int first, int rank) {
    FURROW_UNROLL
    for (int j = 0; j < count; ++j) value[j] = element(data, size, first + rank + j * Threads);
  }
  /// A plain series counts its first coefficient twice.
  template <class Place>
  FURROW_HD void store(double* room, int first, int elements, bool plain, int rank, Place place) const {
    constexpr bool few = count <= 3; // then each asks whether it is the one, which is the shorter program
    const int to_first = plain ? first + rank : -1 - Threads * count;
    FURROW_UNROLL
    for (int j = 0; j < count; ++j) {
      const double x = double(few && to_first == -j * Threads ? value[j] * 2 : value[j]);
      if (rank + j * Threads < elements) room[place(rank) + j * place(Threads)] = x;
    }
    if (!few && plain && first <= 0 && -first < elements && -first % Threads == rank) room[place(-first)] *= 2;
  }
};

/// The elements of a stage that come together: so many of p and of q, from which on.
struct stage_part {
  int of_p, p, of_q, q;

  /// All, or those that the terms of the head need, or those that the others need beside them.
  FURROW_HD static stage_part whole(int stage) { return {0, sum_tile::of_p(stage), 0, sum_tile::of_q(stage)}; }
  FURROW_HD static stage_part head(int stage, int head) {
    return {0, sum_tile::of_p(head), stage - head, sum_tile::of_q(head)};
  }
  FURROW_HD static stage_part rest(int stage, int head) {
    return {sum_tile::of_p(head), stage - head, 0, stage - head};
  }
};

/// Elements of both factors that one of so many threads brings into the rooms.
template <class V, int MostP, int MostQ, int Threads> struct stage_elements {
  staged<V, MostP, Threads> of_p;
  staged<V, MostQ, Threads> of_q;

  /// From i and j on.
  FURROW_HD void load(const V* a, int na, const V* b, int nb, int i, int j, int rank) {
    of_p.load(a, na, i, rank);
    of_q.load(b, nb, j, rank);
  }
  /// i and j: the first elements of p and q in the rooms.
  FURROW_HD void store(double* p, double* q, int i, int j, stage_part part, bool plain, int rank) const {
    of_p.store(p + sum_tile::place(part.of_p), i + part.of_p, part.p, plain, rank,
               [](int x) { return sum_tile::place(x); });
    of_q.store(q + part.of_q, j + part.of_q, part.q, plain, rank, [](int x) { return x; });
  }
};

/// A lane's share of the terms `first` to `last` of a stage: those of its warp. multiply(block, q, p) with the lane's
/// elements of Q (rows lane / 4 and 8 more; columns lane % 4 and 4 more: two of the first column, then two of the
/// second) and of P (rows lane % 4 and 4 more, column lane / 4).
///
/// Block r of the warp has the rows 8 r to 8 r + 7 and, in the lower halves, 8 (r + blocks) to 8 (r + blocks) + 7.
template <class Multiply>
FURROW_HD void add_terms(const double* p, const double* q, int stage, int first, int last, int rank,
                         Multiply multiply) {
  using t = sum_tile;
  const int lane = rank % 32, warp = rank / 32, row = lane / 4, col = lane % 4;
  const int before = first / t::step, steps = last / t::step - before;
  const int begin = before + warp * steps / t::warps, end = before + (warp + 1) * steps / t::warps;
  const double* const of_p = p + t::place(row * t::stride) + col;
  const double* of_q = q + (stage - 1 - begin * t::step) + row - col; // row 0 of Q, at the step's first term
  double held[t::blocks][4];
  FURROW_UNROLL
  for (int r = 1; r < t::blocks; ++r) { // of the step before the first one
    FURROW_UNROLL
    for (int v = 0; v < 4; ++v) held[r][v] = of_q[8 * (r + v % 2 * t::blocks) - v / 2 * 4];
  }
  for (int s = begin; s < end; s += t::blocks) {
    FURROW_UNROLL
    for (int u = 0; u < t::blocks; ++u) { // block r finds its part of Q in held[r - u]
      if (s + u >= end) break;
      double(&next)[4] = held[(t::blocks - u) % t::blocks];
      FURROW_UNROLL
      for (int v = 0; v < 4; ++v) next[v] = of_q[v % 2 * 8 * t::blocks - v / 2 * 4];
      const int at = t::place((s + u) * t::step);
      const double factors[2] = {of_p[at], of_p[at + 4]};
      FURROW_UNROLL
      for (int r = 1; r <= t::blocks; ++r) // the one that has just been loaded comes last
        multiply(r % t::blocks, held[(r + t::blocks - u) % t::blocks], factors);
      of_q -= t::step;
    }
  }
}

/// A sum of a tile: which of its coefficients it is, and where it is in what a warp leaves.
struct tile_place {
  int y, x;
  static constexpr int column = sum_tile::stride + 2; ///< off each other's banks, in pairs of neighbours
  static constexpr int row = column * sum_tile::columns;

  FURROW_HD static constexpr tile_place of(unsigned coefficient) {
    return {int(coefficient % sum_tile::stride), int(coefficient / sum_tile::stride)};
  }
  FURROW_HD constexpr int coefficient() const { return y + sum_tile::stride * x; }
  FURROW_HD constexpr int left() const { return y + column * x; }
};

/// Sum v of a lane and block: rows lane / 4 and 8 more, two columns each.
FURROW_HD inline tile_place place_of_sum(unsigned lane, int block, int v) {
  return {int(lane / 4) + 8 * (block + v / 2 * sum_tile::blocks), int(lane % 4 * 2) + v % 2};
}

} // namespace furrow::chebyshev
