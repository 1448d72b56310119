// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

/// Which kernel a product takes on the GPU and how the work is cut. Functions of the shape alone, on the host.
namespace furrow::dense {

enum class gpu_kind { along, strips, rows, packed, units, staged, across, cluster, few, flat };

/// An item is one piece of the sums of one tile of outputs of one problem, and a block of 256 threads takes it; where
/// there are more items than blocks, in turns: item, item + blocks, ...
struct gpu_plan {
  gpu_kind kind = gpu_kind::along;
  int lanes = 256;     ///< along, rows, cluster: threads that share a line; units: loads of a unit
  int rows = 4;        ///< lines that a group sums up at the same time; units: of a unit; few: that there may be
  index_t outputs = 1; ///< of a tile
  index_t tiles = 1;   ///< of a problem
  index_t terms = 0;   ///< of a piece; flat: periods
  index_t pieces = 1;  ///< of a sum; more than one: the last block to finish a tile adds them in their order
  int active = 256;    ///< flat: threads at work
  bool whole = false;  ///< across, cluster: every line is whole loads of 16 bytes
  unsigned blocks = 1;

  FURROW_HD constexpr index_t items(index_t problems) const { return problems * tiles * pieces; }
};

/// What the plans depend on, beside the shape.
struct gpu_shape {
  int multiprocessors = 132;
  bool clusters = true;  ///< blocks may read each other's shared memory
  bool a_aligned = true; ///< every matrix begins at a multiple of 16 bytes
  bool x_aligned = true; ///< and every x, whose elements are neighbours
};

inline constexpr int gpu_threads = 256;
inline constexpr int resident = 3; ///< blocks a multiprocessor that the kernels for one vector have room for
inline constexpr index_t cached_terms =
    128 * 1024; ///< bytes of x that a piece may have, so that the first cache keeps them
inline constexpr int strip_rows = 4, strip_loads = 4; ///< lines under way, and loads of each, where x is in registers
inline constexpr int strip_outputs = 64;              ///< most lines of a block there
inline constexpr index_t item_bytes = 256 * 1024;     ///< of the matrix, worth a block
inline constexpr index_t most_counters = 1 << 16;     ///< tiles of all problems whose sums may be cut into pieces
inline constexpr index_t staged_bytes = 32 * 1024;    ///< of a tile of short lines
inline constexpr index_t short_bytes = 256;           ///< a line up to which lines are staged
inline constexpr index_t flat_bytes = 512;            ///< a line up to which `across` reads the matrix as one stream
inline constexpr index_t across_bytes = 1 << 20;      ///< of the matrix, worth a block that adds lines up
inline constexpr int across_resident = 4;             ///< blocks a multiprocessor that add up lines for one vector
inline constexpr int cluster_blocks = 8;          ///< blocks of a cluster: as many as every device with clusters has
inline constexpr index_t cluster_bytes = 1 << 19; ///< of the matrix, at most, for a block of a cluster; four times
                                                  ///< that where the block has a multiprocessor to itself
inline constexpr int few_loads = 8;               ///< under way a thread where few lines are added up
/// The same where a load has several lines: where much is written, little of both at a time is best.
FURROW_HD constexpr int loads_of_packed(int size) { return size == 2 ? 8 : 2; }
inline constexpr int most_few = 10;      ///< lines that are few: a thread has them all under way
inline constexpr index_t unit_loads = 9; ///< most loads of a unit of short lines

/// Threads of a block of a cluster where `lanes` of them take a line.
FURROW_HD constexpr int cluster_threads(int lanes) { return lanes > 32 ? 512 : gpu_threads; }

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

/// Lines of `length` elements of `size` bytes, `leading` apart, each summed up; `vectors` vectors of `value` bytes.
constexpr gpu_plan plan_along(index_t lines, index_t length, index_t leading, index_t problems, int size, int value,
                              int vectors, gpu_shape device) {
  gpu_plan p;
  const index_t slots = index_t(device.multiprocessors) * resident, warps = slots * (gpu_threads / 32);
  const index_t per_load = 16 / size, loads = up(length * size, 16);
  const bool gapless = length == leading, short_lines = length * size <= short_bytes;
  const bool even = device.a_aligned && length % per_load == 0 && leading % per_load == 0;
  p.terms = length;
  const auto cut = [&](gpu_kind kind, index_t outputs) {
    p.kind = kind;
    p.outputs = outputs;
    p.tiles = up(lines, outputs);
    p.blocks = blocks_of(p, problems);
    return p;
  };
  if (vectors == 1 && gapless && per_load % length == 0)
    return cut(gpu_kind::packed, gpu_threads * loads_of_packed(size) * (per_load / length));
  const bool fit = loads == 2 || loads == 4 || (loads >= 8 && loads <= 1024);
  const bool many = short_lines ? lines >= 256 : loads <= 64 || up(lines, 4) * problems >= warps;
  const bool plain = vectors == 1 && even && device.x_aligned;
  // Lines of 16-bit numbers are half as long as their x: by strips of it, where nearly all
  // threads have a share of one.
  const index_t strip = gpu_threads * strip_loads * per_load, strips = up(length, strip);
  if (size == 2 && plain && lines > 16 && 4 * length >= 3 * strip &&
      up(lines, 2 * strip_rows) * strips * problems >= device.multiprocessors) {
    index_t outputs = 2 * strip_rows;
    while (outputs < strip_outputs && up(lines, outputs) * problems > most_counters) outputs *= 2;
    cut(gpu_kind::strips, outputs);
    // One or two strips are a block's; beyond, no more pieces than a block adds up in little time.
    const bool whole = strips <= 2 || p.tiles * problems > most_counters;
    p.terms = (whole ? strips : up(strips, 1024)) * strip;
    p.pieces = up(length, p.terms);
    p.blocks = blocks_of(p, problems);
    return p;
  }
  if (plain && fit && many) {
    p.lanes = loads <= 4 ? int(loads) : loads <= 16 ? 8 : loads <= 32 ? 16 : 32;
    // Four lines share x, which is twice as long as one of 16-bit numbers; two where that leaves too few blocks.
    p.rows = loads <= 32 || (size == 2 && lines * problems >= index_t(device.multiprocessors) * 64) ? 4 : 2;
    return cut(gpu_kind::rows, gpu_threads / p.lanes * p.rows);
  }
  const index_t together = per_load / common_divisor(length, per_load); // lines that make whole loads
  if (const index_t unit = together * length / per_load;
      vectors == 1 && gapless && device.a_aligned && short_lines && unit <= unit_loads) {
    p.lanes = int(unit);
    p.rows = int(together);
    return cut(gpu_kind::units, gpu_threads * together);
  }
  if (short_lines && leading <= length + length / 4) {
    cut(gpu_kind::staged, (staged_bytes - 16) / (leading * size));
    p.blocks = static_cast<unsigned>(std::min(p.items(problems), slots));
    return p;
  }
  // Where x stays in the first cache, two lines at a time are enough to share it. All of a few long lines read it once.
  const bool two = size >= 4 && loads >= 4 * gpu_threads && length * value <= cached_terms;
  const bool few = even && lines > 4 && lines <= (size == 4 ? most_few : 8) && loads >= 8 * gpu_threads;
  if (vectors > 1) p.rows = vectors > 4 ? 2 : 4;
  else if (lines <= 2) p.rows = int(lines);
  else if (few) p.rows = lines <= 8 ? 8 : most_few;
  else p.rows = two ? 2 : 4;
  const index_t all = up(lines, p.rows) * problems;
  if (loads <= 64 && all >= warps) p.lanes = 8;
  else if (loads <= 1024 && (all >= warps || loads <= 64)) p.lanes = 32;
  while (p.lanes < 256 && gpu_threads / p.lanes * p.rows > 2 * lines) p.lanes = p.lanes < 32 ? 32 : 256;
  if (p.rows != 4 && vectors == 1) p.lanes = 256;
  cut(gpu_kind::along, index_t(gpu_threads / p.lanes) * p.rows);
  if (p.lanes == 256 && p.tiles * problems <= most_counters) {
    const index_t most_useful = std::max<index_t>(1, loads / gpu_threads); // a load a thread and line
    const index_t keep = p.tiles > 1 ? up(length * value * vectors, cached_terms) : 1;
    const index_t at_once = device.multiprocessors * (p.rows == 1 || p.rows > 4 ? 2 : resident);
    p.pieces = p.tiles * problems == 1 ? std::min(at_once, most_useful)
                                       : even_pieces(p.tiles * problems, std::min(keep, most_useful), most_useful,
                                                     slots, p.rows * length * size, item_bytes);
    // Whole rounds of loads, eight a thread, where a piece has several.
    const index_t round = gpu_threads * std::max(1, 8 / p.rows) * per_load,
                  step = length / p.pieces >= 4 * round ? round : 64;
    p.terms = up(up(length, p.pieces), step) * step;
    p.pieces = up(length, p.terms);
    p.blocks = blocks_of(p, problems);
  }
  return p;
}

/// Lines of `length` elements, added up, for each of `vectors` vectors.
constexpr gpu_plan plan_across(index_t lines, index_t length, index_t leading, index_t problems, int size, int vectors,
                               gpu_shape device) {
  gpu_plan p;
  const index_t per_load = 16 / size, multiprocessors = device.multiprocessors;
  p.terms = lines;
  p.whole = device.a_aligned && length % per_load == 0 && leading % per_load == 0;
  const auto cut = [&](gpu_kind kind, index_t outputs) {
    p.kind = kind;
    p.outputs = outputs;
    p.tiles = up(length, outputs);
  };
  if (leading * size <= flat_bytes) {
    p.kind = gpu_kind::flat;
    const index_t round =
        leading / common_divisor(leading, per_load); // loads after which a line begins at a load again
    p.active = static_cast<int>(gpu_threads / round * round);
    p.outputs = leading;
    const index_t periods = up(lines * leading + per_load, p.active * per_load),
                  slots = multiprocessors * (size == 2 ? 2 : resident);
    p.pieces =
        problems > most_counters ? 1 : std::clamp<index_t>(periods / 2, 1, std::max<index_t>(1, slots / problems));
    p.terms = up(periods, p.pieces);
    p.pieces = up(periods, p.terms);
    p.blocks = blocks_of(p, problems);
    return p;
  }
  if (vectors == 1 && lines <= 8) {
    p.rows = lines > 4 ? 8 : lines > 2 ? 4 : 2;
    cut(gpu_kind::few, gpu_threads * per_load * few_loads / p.rows);
    p.blocks = blocks_of(p, problems);
    return p;
  }
  if (device.clusters && p.whole && vectors == 1 && problems == 1 && lines >= 128)
    for (const int lanes : {64, 128, 16, 32}) {
      // Large blocks where nearly every multiprocessor gets one, else the least of a line that two small ones allow.
      const bool large = lanes > 32;
      cut(gpu_kind::cluster, lanes * per_load);
      p.lanes = lanes;
      p.pieces = cluster_blocks;
      p.terms = up(lines, cluster_blocks);
      p.blocks = blocks_of(p, 1);
      const bool fills = large ? size == 4 && p.blocks <= multiprocessors && 4 * p.blocks >= 3 * multiprocessors
                               : p.blocks <= 2 * multiprocessors;
      if (fills && lines * length * size <= p.blocks * cluster_bytes * (large ? 4 : 1)) return p;
    }
  p.pieces = 1;
  p.terms = lines;
  p.lanes = 256;
  // Lines that go round the device side by side need no sums of other groups.
  index_t slots = multiprocessors * across_resident;
  const bool wide = double(length) * double(problems) >= 3.0 * double(slots * gpu_threads * per_load) || lines < 16;
  const int groups = wide ? 1 : 8;
  const bool deep = !wide && vectors == 1 && size < 8; // eight lines under way a thread
  if (deep) slots = multiprocessors * resident;
  cut(gpu_kind::across, gpu_threads / groups * per_load);
  if (p.tiles * problems <= most_counters) {
    const index_t by_eight = lines / (groups * 8), most_useful = by_eight < 2 ? 1 : by_eight; // eight lines a thread
    // Groups of eight lines: as many blocks as have room at the same time, less what adding many pieces up would cost.
    const index_t tiles = p.tiles * problems, two = 2 * multiprocessors;
    p.pieces = deep && tiles <= two ? std::min(two / tiles, most_useful)
                                    : even_pieces(tiles, 1, most_useful, slots, p.outputs * lines * size, across_bytes);
    p.terms = up(lines, p.pieces);
    if (p.pieces > 1) p.terms = up(p.terms, 8 * groups) * 8 * groups; // whole rounds of loads
    p.pieces = up(lines, p.terms);
  }
  p.blocks = blocks_of(p, problems);
  return p;
}

/// For people.
std::string text_of(const gpu_plan& p);

/// An item, taken apart. Neighbouring items are neighbouring tiles of the same piece: they read the same part of x.
struct gpu_item {
  index_t problem = 0, piece = 0, tile = 0;
};
FURROW_HD inline gpu_item item_of(const gpu_plan& p, index_t item) {
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

/// The same where neighbouring items are neighbouring pieces of the same tile: they read the same lines.
FURROW_HD inline gpu_item strip_of(const gpu_plan& p, index_t item) {
  gpu_item i;
  i.tile = item;
  if (p.pieces > 1) {
    i.tile = item / p.pieces;
    i.piece = item - i.tile * p.pieces;
  }
  if (i.tile >= p.tiles) {
    i.problem = i.tile / p.tiles;
    i.tile -= i.problem * p.tiles;
  }
  return i;
}

} // namespace furrow::dense
