// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_plan.hpp"

#include <algorithm>

/// Into how many pieces a sum is cut, for all plans.
namespace furrow::dense {

constexpr index_t up(index_t a, index_t b) { return (a + b - 1) / b; }
constexpr index_t common_divisor(index_t a, index_t b) { return b == 0 ? a : common_divisor(b, a % b); }

/// How much of the time `items` equal items keep `slots` busy.
constexpr double busy(index_t items, index_t slots) { return double(items) / double(up(items, slots) * slots); }

/// The number of pieces in [least, most] that keeps the device busiest; the smallest of those within 2 percent.
constexpr index_t best_pieces(index_t tiles, index_t least, index_t most, index_t slots) {
  index_t best = least;
  most = std::min(most, std::max(least, up(4 * slots, tiles)) + 64);
  for (index_t p = least; p <= most; ++p)
    if (busy(tiles * p, slots) > busy(tiles * best, slots) + 0.02) best = p;
  return best;
}

/// A block an item, as the device gets to them.
constexpr unsigned blocks_of(const gpu_plan& p, index_t problems) {
  return static_cast<unsigned>(std::min(p.items(problems), index_t(1) << 30));
}

/// Enough pieces to fill the device; beyond that, pieces of at least `worth_bytes`, because each has its price.
constexpr index_t even_pieces(index_t tiles, index_t least, index_t most, index_t slots, index_t tile_bytes,
                              index_t worth_bytes) {
  const index_t worth = tile_bytes / worth_bytes, rounds = std::min(up(4 * slots, tiles), worth * 3 / 4);
  const index_t low = std::clamp(std::max(slots / tiles, rounds), least, most);
  return best_pieces(tiles, low, std::max(low, std::min(most, worth + worth / 2)), slots);
}

} // namespace furrow::dense
