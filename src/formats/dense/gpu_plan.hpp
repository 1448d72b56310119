// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <cstdint>
#include <string>

/// Which kernel a product takes on the GPU and how the work is cut. The functions that say so, of the shape alone and
/// on the host, are in gpu_plan_along.hpp and gpu_plan_across.hpp.
namespace furrow::dense {

enum class gpu_kind { along, lines, strips, rows, packed, units, staged, across, alone, cluster, few, flat, stream };

/// An item is one piece of the sums of one tile of outputs of one problem, and a block of 256 threads takes it; where
/// there are more items than blocks, in turns: item, item + blocks, ... (across and flat read theirs off a grid of
/// tiles, pieces and problems: they have several pieces, and divisions before the first load are long.)
struct gpu_plan {
  gpu_kind kind = gpu_kind::along;
  int lanes = 256; ///< along, rows, alone, cluster: threads that share a line; units: loads of a unit; stream: outputs
                   ///< that a block takes the pieces of
  int rows = 4;    ///< lines that a group sums up at the same time; units: of a unit; few: that there may be; stream:
                   ///< shares of the outputs
  index_t outputs = 1; ///< of a tile
  index_t tiles = 1;   ///< of a problem
  index_t terms = 0;   ///< of a piece; flat: periods; lines: rounds; stream: whole turns
  int turn = 0;        ///< flat, stream: lines of a period
  index_t pieces = 1;  ///< of a sum; more than one: the last block of a tile adds them in their order
  int active = 256;    ///< flat, stream: threads at work
  index_t periods = 0; ///< flat, stream: whole ones in the matrix
  int holds = -1;      ///< flat: lines in a load that begins with one; 0: a load that one may end in; -1: any
  /// across, cluster: every line is whole loads of 16 bytes; packed, few: and the only y begins at such a place
  bool whole = false;
  bool y_stays = true; ///< packed, few: the second cache has room for y
  unsigned blocks = 1;

  FURROW_HD constexpr index_t items(index_t problems) const { return problems * tiles * pieces; }
};

/// What the plans depend on, beside the shape.
struct gpu_shape {
  int multiprocessors = 132;
  bool clusters = true;  ///< blocks may read each other's shared memory
  bool a_aligned = true; ///< every matrix begins at a multiple of 16 bytes
  bool y_aligned = true; ///< there is one y, of neighbours, at such a place
  bool x_aligned = true; ///< and every vector x, whose elements are neighbours
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
inline constexpr index_t cluster_bytes = 1 << 19; ///< of the matrix, at most, for a block of a cluster
inline constexpr index_t alone_bytes = 1 << 22;   ///< the same for a block that adds up all of its columns alone
/// Places in lines that a thread has where at most `lines` of them are added up: y is written as they are read, and
/// little of both at a time is best; but a place of 16-bit numbers is two stores.
FURROW_HD constexpr int places_of_few(int size, int lines) { return size == 2 ? 8 / lines : 1; }
inline constexpr int most_lines = 10; ///< long lines that a thread has under way together
/// Blocks a multiprocessor that take `rows` such lines, and loads of each that a thread has under way.
FURROW_HD constexpr int lines_blocks(int sum, int rows) { return rows == 1 || rows * sum > 28 ? 2 : resident; }
FURROW_HD constexpr int loads_of_lines(int size, int rows) {
  return rows > 5 ? 1 : rows == 5 ? 2 : (size == 2 ? 4 : 8) / rows;
}
/// Loads of a thread where one has several lines of `length` elements: of 16-bit numbers many, but where as much is
/// written as read, one.
FURROW_HD constexpr int loads_of_packed(int size, int length) {
  return length == 1 || length * size == 4 ? 1 : size > 2 ? 2 : 8;
}
/// Where lines that are no whole loads are a stream that every multiprocessor reads by one block: its threads and their
/// loads under way; bytes of the matrix, worth such a block.
inline constexpr int stream_threads = 512;
FURROW_HD constexpr int stream_loads(int size) { return size == 2 ? 10 : 12; }
inline constexpr index_t stream_bytes = 1 << 18;
inline constexpr index_t unit_loads = 9; ///< most loads of a unit of short lines

/// Threads of a block of a cluster; of a block that is alone.
FURROW_HD constexpr int cluster_threads(int blocks) { return blocks == 1 ? 512 : gpu_threads; }
inline constexpr int alone_threads = 512; ///< of a block that has a multiprocessor to itself
inline constexpr int alone_rows = 16;     ///< lines that a thread of it has under way
/// Loads of a turn of a thread where short lines are read as one stream; blocks a multiprocessor there.
FURROW_HD constexpr int flat_turn(int size, int vectors, int holds) {
  return size == 4 && vectors == 1 && (holds == 1 || holds == 2) ? 16 : 8;
}
FURROW_HD constexpr int flat_blocks(int size, int holds) { return size == 8 && holds >= 0 ? resident : 2; }

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
