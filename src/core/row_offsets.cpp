// SPDX-License-Identifier: BSD-3-Clause
#include "row_offsets.hpp"

#include <algorithm>
#include <atomic>

namespace furrow {
namespace {

/// Whether row[k] >= row[k - 1] for [first, last). Without branches, so that a vector of them is looked at at a time.
bool ascend(const std::int32_t* row, index_t first, index_t last) {
  int down = 0;
  for (index_t k = first; k < last; ++k) down |= row[k] < row[k - 1];
  return down == 0;
}

} // namespace

template <class I> std::optional<host_array<I>> checked_offsets_of_rows(cview<std::int32_t> row, index_t rows) {
  constexpr index_t piece = 4096; // of a first cache
  const index_t nnz = row.size;
  host_array<I> row_ptr(rows + 1);
  cpu::for_each_range(rows + 1, 1 << 15, [&](index_t first, index_t last) {
    std::fill(row_ptr.data() + first, row_ptr.data() + last, I(0));
  });
  std::atomic<bool> wrong = false;
  // Every entry says where its row ends, the last one of a row for good; branches would be mispredicted where lengths
  // vary. A row that goes on behind the part of a thread is left to the next one.
  cpu::for_each_range(nnz, 4 * piece, [&](index_t first, index_t last) {
    index_t own = last;
    while (last < nnz && own > first && row[own - 1] == row[last]) --own;
    for (index_t k = first; k < last && !wrong.load(std::memory_order_relaxed); k += piece) {
      const index_t end = std::min(k + piece, last);
      if (row[k] < 0 || row[end - 1] >= rows || !ascend(row.data, std::max<index_t>(k, 1), end)) wrong = true;
      else
        for (index_t l = k; l < std::min(end, own); ++l) row_ptr[row[l] + 1] = static_cast<I>(l + 1);
    }
  });
  if (wrong) return std::nullopt;
  // Rows without entries end where the row before does.
  cpu::for_each_range(rows, 1 << 15, [&](index_t first, index_t last) {
    auto at = static_cast<I>(std::lower_bound(row.begin(), row.end(), first) - row.begin());
    for (index_t r = first + 1; r <= last; ++r) row_ptr[r] = at = std::max(at, row_ptr[r]);
  });
  return row_ptr;
}
template std::optional<host_array<std::int32_t>> checked_offsets_of_rows(cview<std::int32_t>, index_t);
template std::optional<host_array<std::int64_t>> checked_offsets_of_rows(cview<std::int32_t>, index_t);

} // namespace furrow
