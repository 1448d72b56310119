// SPDX-License-Identifier: BSD-3-Clause
#include "row_offsets.hpp"

#include "check.hpp"

#include <furrow/error.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

namespace furrow {
namespace {

/// Whether row[k] is row[k - 1] or the next one for [first, last). Without branches, so that vectors are compared.
bool go_on(const std::int32_t* row, index_t first, index_t last) {
  unsigned far = 0;
  for (index_t k = first; k < last; ++k) far |= static_cast<unsigned>(row[k]) - static_cast<unsigned>(row[k - 1]) > 1U;
  return far == 0;
}

/// Whether [first, last) are not below the rows before them each.
bool are_sorted(const std::int32_t* row, index_t first, index_t last) {
  unsigned below = 0;
  for (index_t k = first; k < last; ++k) below |= static_cast<unsigned>(row[k] < row[k - 1]);
  return below == 0;
}

} // namespace

template <class I> bool write_row_offsets(cview<std::int32_t> row, index_t rows, index_t first, index_t last, I* to) {
  const auto begin_of = [&](index_t r) {
    if (r <= 0) return index_t(0);
    return r >= rows ? row.size : std::lower_bound(row.begin(), row.end(), r) - row.begin();
  };
  const index_t begin = begin_of(first), end = begin_of(last);
  if (begin > end) return false; // a search among rows out of order
  index_t next = first;          // the first row without an offset
  const auto starts = [&](index_t k) {
    const index_t now = row[k];
    if (now < next || now >= std::min(last, rows)) return false;
    for (; next <= now; ++next) to[next - first] = static_cast<I>(k);
    return true;
  };
  if (begin < end && !starts(begin)) return false;
  for (index_t k = begin + 1, stop = k; k < end; k = stop) {
    constexpr index_t piece = 2048; // of a first cache
    stop = std::min(k + piece, end);
    const index_t until = index_t(row[stop - 1]) + 1;
    const bool in_place = until <= std::min(last, rows), all_there = in_place && go_on(row.data, k, stop);
    if (all_there || (in_place && until - next <= 4 * piece && are_sorted(row.data, k, stop))) {
      // Every entry says where its row begins, the first one for good: branches would be mispredicted at each row
      // (1.8 ns an entry of poisson3d:200; so 0.6). A row without an entry begins where the next one does: it is found
      // from behind, where there are not many for each entry.
      if (!all_there) std::fill(to + (next - first), to + (until - first), I(-1));
      I& own = to[row[k] - first];
      const I begun = row[k] == row[k - 1] ? own : static_cast<I>(k);
      for (index_t l = stop - 1; l >= k; --l) to[row[l] - first] = static_cast<I>(l);
      own = begun;
      if (!all_there)
        for (index_t r = until - 2; r >= next; --r)
          to[r - first] = to[r - first] < 0 ? to[r + 1 - first] : to[r - first];
      next = until;
      continue;
    }
    for (; k < stop; ++k)
      if (row[k] != row[k - 1] && !starts(k)) return false;
  }
  for (; next < last; ++next) to[next - first] = static_cast<I>(end);
  return true;
}

template <class I> host_array<I> offsets_of_rows(cview<std::int32_t> row, index_t rows) {
  constexpr index_t piece = 1 << 16; // entries and offsets: rows differ in length, so many pieces for a thread
  host_array<I> row_ptr(rows + 1);
  std::atomic<bool> sorted = true;
  const index_t pieces = std::clamp<index_t>((row.size + rows) / piece, 1, rows + 1);
  cpu::for_each_task(pieces, [&](index_t k) {
    const index_t first = cpu::part_begin(rows + 1, pieces, k), last = cpu::part_begin(rows + 1, pieces, k + 1);
    if (!write_row_offsets(row, rows, first, last, row_ptr.data() + first)) sorted = false;
  });
  check(sorted, fault::internal, "rows are out of order that were taken for sorted ones");
  return row_ptr;
}

template <class I> host_array<I> offsets_of_lengths(cview<std::int32_t> length) {
  const index_t rows = length.size, parts = std::clamp<index_t>(rows >> 16, 1, 1024);
  host_array<I> row_ptr(rows + 1);
  std::vector<index_t> before(static_cast<std::size_t>(parts) + 1, 0);
  const auto in_part = [&](index_t part, auto&& f) {
    for (index_t r = cpu::part_begin(rows, parts, part); r < cpu::part_begin(rows, parts, part + 1); ++r) f(r);
  };
  cpu::for_each_task(parts, [&](index_t part) {
    index_t entries = 0;
    in_part(part, [&](index_t r) { entries += length[r]; });
    before[part + 1] = entries;
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  cpu::for_each_task(parts, [&](index_t part) {
    index_t next = before[part];
    in_part(part, [&](index_t r) {
      row_ptr[r] = static_cast<I>(next);
      next += length[r];
    });
  });
  row_ptr[rows] = static_cast<I>(before[parts]);
  return row_ptr;
}

#define FURROW_OFFSETS(I)                                                                                              \
  template bool write_row_offsets(cview<std::int32_t>, index_t, index_t, index_t, I*);                                 \
  template host_array<I> offsets_of_rows(cview<std::int32_t>, index_t);                                                \
  template host_array<I> offsets_of_lengths(cview<std::int32_t>);
FURROW_OFFSETS(std::int32_t)
FURROW_OFFSETS(std::int64_t)
#undef FURROW_OFFSETS

} // namespace furrow
