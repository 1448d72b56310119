// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "csr.hpp"
#include "tiles.hpp"

#include "backends/load_once.hpp"
#include "backends/unroll.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

/// The integers and the arithmetic of the `segments` kernel, which tests on the CPU play.
namespace furrow {

/// Work of a block: the rows [row, row + rows), whole, with the entries [begin, begin + count). Or, where parts > 0,
/// entries of the one row `row`, which is longer than others may be together and is cut into so many parts; the sums of
/// its parts go into the slots from `first` on, this one's into `slot`.
struct alignas(16) piece {
  index_t begin;
  std::int32_t row, rows, count, parts, slot, first;
};

/// Entries start at a multiple of this many in a block, so that all loads are of 16 bytes and flags fill bytes.
inline constexpr index_t piece_alignment = 8;
FURROW_HD inline index_t aligned(index_t entry) { return entry & ~(piece_alignment - 1); }

/// How a matrix is cut: whole rows with at most `entries` entries, the ones read for the sake of alignment included;
/// longer rows into parts of at most `part`, a multiple of the alignment.
struct piece_sizes {
  index_t entries, rows, part;
};

struct pieces {
  std::vector<piece> all; ///< the parts of long rows first: nothing else takes as long
  index_t slots = 0;      ///< parts of long rows
};

/// Cuts the entries [begin, end) of one row into parts of at most `most`, a multiple of the alignment.
inline void cut_row(pieces& cut, std::int32_t row, index_t begin, index_t end, index_t most) {
  const index_t origin = aligned(begin), parts = (end - origin + most - 1) / most;
  for (index_t n = 0; n < parts; ++n) {
    const index_t k = origin + n * most, first = std::max(k, begin), count = std::min(k + most, end) - first;
    cut.all.push_back({first, row, 0, static_cast<std::int32_t>(count), static_cast<std::int32_t>(parts),
                       static_cast<std::int32_t>(cut.slots + n), static_cast<std::int32_t>(cut.slots)});
  }
  cut.slots += parts;
}

/// Depends on the matrix alone.
template <class I> pieces cut_pieces(const host_array<I>& row_ptr, piece_sizes s) {
  pieces cut;
  for (const tile& t : cut_tiles(row_ptr, s.entries - (piece_alignment - 1), s.rows)) {
    if (t.count >= 0) {
      cut.all.push_back({t.begin, t.row, t.rows, t.count, 0, 0, 0});
      continue;
    }
    cut_row(cut, t.row, t.begin, row_ptr[t.row + 1], s.part);
  }
  std::ranges::stable_partition(cut.all, [](const piece& p) { return p.parts > 0; });
  return cut;
}

/// Bit k % 8 of byte k / 8 is set where entry k is the last one of its row.
template <class I> host_array<std::uint8_t> ends_of_rows(const host_array<I>& row_ptr) {
  const index_t rows = row_ptr.size() - 1, nnz = row_ptr[rows];
  host_array<std::uint8_t> ends((nnz + 7) / 8, std::uint8_t(0));
  for (index_t r = 0; r < rows; ++r)
    if (row_ptr[r + 1] > row_ptr[r]) {
      const index_t k = row_ptr[r + 1] - 1;
      ends[k / 8] = static_cast<std::uint8_t>(ends[k / 8] | (1u << (k % 8)));
    }
  return ends;
}

/// What a thread makes of its entries: `head` of the row that ends first among them, `tail` behind the last end.
template <class V> struct segment {
  V head{}, tail{};
  int first = -1; ///< entry at which a row ends first; -1: none does
};

/// N products in order, of which those at set bits of `ends` are the last of their rows. finish(i, sum) for the rows
/// that begin and end here; the first one may have begun in threads before, and is the caller's to finish.
template <int N, class V, class Finish>
FURROW_HD segment<V> walk_entries(const V (&product)[N], unsigned ends, Finish finish) {
  segment<V> mine;
  V sum{};
  FURROW_UNROLL
  for (int i = 0; i < N; ++i) {
    sum += product[i];
    if (!(ends >> i & 1)) continue;
    if (mine.first < 0) {
      mine.first = i;
      mine.head = sum;
    } else {
      finish(i, sum);
    }
    sum = V(0);
  }
  mine.tail = sum;
  return mine;
}

} // namespace furrow
