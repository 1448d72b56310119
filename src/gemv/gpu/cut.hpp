// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <algorithm>

/// How the work of a product is cut on the GPU, for all ways: functions of integers, which the host tests.
namespace furrow::dense {

inline constexpr int gpu_threads = 256;
inline constexpr int resident = 3; ///< blocks a multiprocessor that the kernels for one vector have room for
inline constexpr index_t most_counters = 1 << 16; ///< tiles of all problems whose sums may be cut into pieces
inline constexpr index_t flat_bytes = 512; ///< a line up to which any matrix whose lines are added up is a stream

/// A block of threads takes one piece of the sums of one tile of outputs of one problem. The grid has tiles, pieces and
/// problems as its sides: neighbouring blocks are neighbouring tiles of the same piece, which read the same part of x,
/// and no block divides before its first load.
struct cut {
  index_t outputs = 1; ///< of a tile
  index_t tiles = 1;   ///< of a problem
  index_t terms = 0;   ///< of a piece
  index_t pieces = 1;  ///< of a sum; more than one: the last block of a tile adds them in their order
};

constexpr index_t up(index_t a, index_t b) { return (a + b - 1) / b; }
constexpr index_t common_divisor(index_t a, index_t b) { return b == 0 ? a : common_divisor(b, a % b); }

/// How much of the time `items` equal items keep `slots` busy.
constexpr double busy(index_t items, index_t slots) { return double(items) / double(up(items, slots) * slots); }

/// `all` outputs in tiles of `outputs`.
constexpr void tile(cut& p, index_t all, index_t outputs) {
  p.outputs = outputs;
  p.tiles = up(all, outputs);
}

/// `all` terms of a sum, of which there may be none, in pieces of `terms`.
constexpr void split(cut& p, index_t all, index_t terms) {
  p.terms = std::max<index_t>(terms, 1);
  p.pieces = std::max<index_t>(up(all, p.terms), 1);
}

/// The number of pieces in [least, most] that keeps the device busiest; the smallest of those within 2 percent.
constexpr index_t best_pieces(index_t tiles, index_t least, index_t most, index_t slots) {
  index_t best = least;
  most = std::min(most, std::max(least, up(4 * slots, tiles)) + 64);
  for (index_t p = least; p <= most; ++p)
    if (busy(tiles * p, slots) > busy(tiles * best, slots) + 0.02) best = p;
  return best;
}

/// Enough pieces to fill the device; beyond that, pieces of at least `worth_bytes`, because each has its price.
constexpr index_t even_pieces(index_t tiles, index_t least, index_t most, index_t slots, index_t tile_bytes,
                              index_t worth_bytes) {
  const index_t worth = tile_bytes / worth_bytes, rounds = std::min(up(4 * slots, tiles), worth * 3 / 4);
  const index_t low = std::clamp(std::max(slots / tiles, rounds), least, most);
  return best_pieces(tiles, low, std::max(low, std::min(most, worth + worth / 2)), slots);
}

} // namespace furrow::dense
