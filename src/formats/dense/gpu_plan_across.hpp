// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_cut.hpp"

namespace furrow::dense {

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
  const index_t round = leading / common_divisor(leading, per_load); // loads after which a line begins at a load again
  // Lines that are no whole loads, which nothing else reads 16 bytes at a time, where few threads of a block are idle.
  const index_t in_block = stream_threads / round * round;
  if (vectors == 1 && problems == 1 && device.a_aligned && !p.whole && lines > 8 && leading * size > flat_bytes &&
      in_block >= stream_threads * 7 / 8 && leading - length <= leading / 64 &&
      lines * length * size >= multiprocessors * stream_bytes) {
    p.kind = gpu_kind::stream;
    p.active = static_cast<int>(in_block);
    p.turn = static_cast<int>(p.active * per_load / leading);
    p.outputs = up(leading, 4) * 4; // places of pieces, which are read by four
    p.lanes = int(up(up(p.outputs, 16), 8) * 8);
    p.rows = int(up(p.outputs, p.lanes));
    p.pieces = multiprocessors;
    p.periods = ((lines - 1) * leading + length) / (p.active * per_load);
    p.terms = p.periods / stream_loads(size);
    p.blocks = blocks_of(p, 1);
    return p;
  }
  if (leading * size <= flat_bytes) {
    p.kind = gpu_kind::flat;
    // Threads at work: whole lines and, if most are, whole cache lines.
    const index_t even = round * 8 / common_divisor(round, 8);
    p.active = static_cast<int>(gpu_threads / round * round);
    if (gpu_threads / even * even * 16 >= 15 * p.active) p.active = static_cast<int>(gpu_threads / even * even);
    p.outputs = leading;
    p.turn = int(p.active * per_load / leading);
    p.periods = ((lines - 1) * leading + length) / (p.active * per_load);
    if (device.a_aligned && device.x_aligned) {
      if (leading % per_load == 0) p.holds = 1;
      else if (per_load % leading == 0) p.holds = int(per_load / leading);
      else if (leading > per_load) p.holds = 0;
    }
    const index_t periods = up(lines * leading + per_load, p.active * per_load),
                  slots = multiprocessors * flat_blocks(size, p.holds);
    // As many turns for every piece.
    const index_t most = problems > most_counters ? 1 : std::max<index_t>(1, slots / problems);
    const index_t turns = up(periods, flat_turn(size, vectors, p.holds));
    p.pieces = up(turns, up(turns, most));
    p.terms = up(periods, p.pieces);
    p.blocks = blocks_of(p, problems);
    return p;
  }
  if (vectors == 1 && lines <= 8) {
    p.rows = lines > 4 ? 8 : lines > 2 ? 4 : 2;
    cut(gpu_kind::few, gpu_threads * per_load * places_of_few(size, p.rows));
    p.whole = p.whole && device.y_aligned && size > 2 && lines <= 2;
    p.blocks = blocks_of(p, problems);
    return p;
  }
  if (p.whole && vectors == 1 && problems == 1 && lines >= 128) {
    // Blocks that add up all of their columns: of small matrices, with two turns of loads a thread; of larger ones
    // where all multiprocessors get two, or one of numbers that are quickly multiplied.
    const auto alone = [&](int lanes, gpu_kind kind = gpu_kind::cluster) {
      cut(kind, lanes * per_load);
      p.lanes = lanes;
      p.pieces = 1;
      p.terms = lines;
      p.blocks = blocks_of(p, 1);
      return index_t(p.blocks);
    };
    const index_t bytes = lines * length * size;
    if (lines <= 1024 && alone(4) <= multiprocessors) return p;
    // One block for each, with many lines under way, where that leaves nothing over.
    if (size <= 4 && device.x_aligned)
      for (const int lanes : {8, 16})
        if (const index_t n = alone(lanes, gpu_kind::alone);
            length % p.outputs == 0 && lines % (alone_threads / lanes * alone_rows) == 0 && n <= multiprocessors &&
            busy(n, multiprocessors) >= 0.95 && bytes >= n * cluster_bytes && bytes <= n * alone_bytes)
          return p;
    const index_t blocks = alone(8);
    const bool one_each = blocks <= multiprocessors;
    const bool fills = blocks <= 2 * multiprocessors && busy(blocks, multiprocessors) >= 0.95;
    if (fills && bytes <= blocks * alone_bytes && (!one_each || (size > 2 && bytes >= blocks * cluster_bytes)))
      return p;
    if (device.clusters)
      for (const int lanes : {16, 32}) { // the least of a line that two blocks a multiprocessor allow
        cut(gpu_kind::cluster, lanes * per_load);
        p.lanes = lanes;
        p.pieces = cluster_blocks;
        p.terms = up(lines, cluster_blocks);
        p.blocks = blocks_of(p, 1);
        if (p.blocks <= 2 * multiprocessors && bytes <= p.blocks * cluster_bytes) return p;
      }
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

} // namespace furrow::dense
