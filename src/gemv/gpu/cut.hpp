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

/// An item is one piece of the sums of one tile of outputs of one problem, and a block of threads takes it; where there
/// are more items than blocks, in turns: item, item + blocks, ...
struct cut {
  index_t outputs = 1; ///< of a tile
  index_t tiles = 1;   ///< of a problem
  index_t terms = 0;   ///< of a piece
  index_t pieces = 1;  ///< of a sum; more than one: the last block of a tile adds them in their order
  unsigned blocks = 1;
  /// The grid has tiles, pieces and problems as its sides: divisions before the first load are long where there are
  /// several pieces.
  bool sides = false;

  FURROW_HD constexpr index_t items(index_t problems) const { return problems * tiles * pieces; }
};

/// An item, taken apart. Neighbouring items are neighbouring tiles of the same piece: they read the same part of x.
struct gpu_item {
  index_t problem = 0, piece = 0, tile = 0;
};
FURROW_HD inline gpu_item item_of(const cut& p, index_t item) {
  gpu_item i;
  i.tile = item;
  if (item >= p.tiles) { // else no division
    i.tile = item % p.tiles;
    i.piece = item / p.tiles;
    i.problem = i.piece / p.pieces;
    i.piece -= i.problem * p.pieces;
  }
  return i;
}

constexpr index_t up(index_t a, index_t b) { return (a + b - 1) / b; }
constexpr index_t common_divisor(index_t a, index_t b) { return b == 0 ? a : common_divisor(b, a % b); }

/// How much of the time `items` equal items keep `slots` busy.
constexpr double busy(index_t items, index_t slots) { return double(items) / double(up(items, slots) * slots); }

/// `outputs` in tiles, a block an item, as the device gets to them.
constexpr void tile(cut& p, index_t all, index_t outputs, index_t problems) {
  p.outputs = outputs;
  p.tiles = up(all, outputs);
  p.blocks = static_cast<unsigned>(std::min(p.items(problems), index_t(1) << 30));
}

/// The terms of a sum in pieces of `terms`.
constexpr void split(cut& p, index_t all, index_t terms, index_t problems) {
  p.terms = terms;
  p.pieces = up(all, terms);
  p.blocks = static_cast<unsigned>(std::min(p.items(problems), index_t(1) << 30));
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
