// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "distributed/bytes.hpp"
#include "distributed/partition.hpp"

#include <numeric>

/// The cut of `cut_by_entries` where no rank knows the lengths of all rows: the same numbers, on all ranks.
namespace furrow {

/// The sum over the ranks of numbers of which each brings as many.
std::vector<index_t> sum_each(communicator& c, const std::vector<index_t>& mine);

/// Each rank looks at rows [first, last) of the matrix, all of them together at each row once. `entries_before(r)`:
/// entries of the whole matrix before row r, which one of those is. A rank begins with the first row that has its share
/// of the work before it, so as many rows are before it as have less.
template <class Before>
std::vector<index_t> cut_among(communicator& c, index_t first, index_t last, index_t rows, index_t entries,
                               Before entries_before) {
  const auto all = double(entries + entries_of_a_row * rows);
  std::vector<index_t> begins{0};
  for (int k = 1; k < c.size(); ++k) {
    const double wanted = all * k / c.size();
    index_t low = first, high = std::max(first, last);
    while (low < high) {
      const index_t middle = low + (high - low) / 2;
      if (double(entries_before(middle) + entries_of_a_row * middle) < wanted) low = middle + 1;
      else high = middle;
    }
    begins.push_back(low - first);
  }
  begins = sum_each(c, begins);
  begins.push_back(rows);
  return begins;
}

/// The same of the lengths of those rows, in the order of the ranks.
template <class I> std::vector<index_t> cut_by_lengths(communicator& c, cview<I> lengths, index_t rows) {
  host_array<index_t> before(lengths.size + 1);
  before[0] = 0;
  for (index_t r = 0; r < lengths.size; ++r) before[r + 1] = before[r] + static_cast<index_t>(lengths[r]);
  index_t first = 0, entries = 0, so_far = 0;
  struct block {
    index_t rows, entries;
  };
  int rank = 0;
  for (const block& b : gather_each(c, block{lengths.size, before[lengths.size]})) {
    if (rank++ < c.rank()) first += b.rows, so_far += b.entries;
    entries += b.entries;
  }
  return cut_among(c, first, first + lengths.size, rows, entries,
                   [&](index_t r) { return so_far + before[r - first]; });
}

} // namespace furrow
