// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_cut.hpp"

namespace furrow::dense {

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
  if (vectors == 1 && gapless && per_load % length == 0) {
    p.whole = device.a_aligned && device.y_aligned && lines * length >= per_load; // there is a load
    return cut(gpu_kind::packed, gpu_threads * loads_of_packed(size, int(length)) * (per_load / length));
  }
  const bool fit = loads == 2 || loads == 4 || (loads >= 8 && loads <= 1024);
  const bool many = short_lines ? lines >= 256 : loads <= 64 || up(lines, 4) * problems >= warps;
  const bool plain = vectors == 1 && even && device.x_aligned;
  // Lines of 16-bit numbers are half as long as their x: by strips of it, where nearly all
  // threads have a share of one.
  const index_t strip = gpu_threads * strip_loads * per_load, strips = up(length, strip);
  if (size == 2 && plain && lines > 16 && 4 * length >= 3 * strip &&
      up(lines, 2 * strip_rows) * strips * problems >= device.multiprocessors) {
    // Many lines for a strip of x, unless that leaves few blocks.
    index_t outputs = 2 * strip_rows;
    if (up(lines, 2 * outputs) * (strips > 2 ? strips : 1) * problems >= 8 * index_t(device.multiprocessors))
      outputs *= 2;
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
  if (plain && problems == 1 && lines <= most_lines && loads >= 8 * gpu_threads) {
    p.rows = int(lines);
    const index_t round = gpu_threads * per_load * loads_of_lines(size, p.rows), rounds = up(length, round);
    cut(gpu_kind::lines, lines);
    p.terms = up(rounds, device.multiprocessors * lines_blocks(value, p.rows));
    p.pieces = up(rounds, p.terms);
    p.blocks = blocks_of(p, 1);
    return p;
  }
  // Where x stays in the first cache, two lines at a time are enough to share it.
  const bool two = size >= 4 && loads >= 4 * gpu_threads && length * value <= cached_terms;
  if (vectors > 1) p.rows = vectors > 4 ? 2 : 4;
  else if (lines <= 2) p.rows = int(lines);
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
    const index_t at_once = device.multiprocessors * (p.rows == 1 ? 2 : resident);
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

} // namespace furrow::dense
