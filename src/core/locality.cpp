// SPDX-License-Identifier: BSD-3-Clause
#include "locality.hpp"

#include "entries_before.hpp"
#include "sample.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace furrow {
namespace {

using counts = locality_counts;
constexpr index_t window_rows = locality_counts::window_rows, slice_rows = locality_counts::slice_rows;

std::int32_t sector_of(std::int32_t col) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(col) / locality::elements);
}

/// Counts different sectors, group by group: each has the number of the last group that it was in. Nothing is cleared,
/// and no sector waits for another one.
class stamps {
public:
  stamps(std::int32_t least, std::int32_t most) : least_(least), group_(static_cast<std::size_t>(most - least + 1)) {}
  void next_group() { ++now_; }
  bool is_new(std::int32_t sector) { return std::exchange(group_[sector - least_], now_) != now_; }
  void leave(std::int32_t) {}

private:
  std::int32_t least_;
  std::vector<std::uint32_t> group_;
  std::uint32_t now_ = 0;
};
/// The same where they lie far apart: a bit each, which a group clears again.
class sector_bits {
public:
  sector_bits(std::int32_t least, std::int32_t most) : least_(least), bits_(std::size_t(most - least) / 64 + 1) {}
  void next_group() {}
  bool is_new(std::int32_t sector) {
    std::uint64_t& word = bits_[std::size_t(sector - least_) / 64];
    const auto bit = std::uint64_t(1) << (sector - least_) % 64;
    const bool is = (word & bit) == 0;
    word |= bit;
    return is;
  }
  void leave(std::int32_t sector) { bits_[std::size_t(sector - least_) / 64] = 0; }

private:
  std::int32_t least_;
  std::vector<std::uint64_t> bits_;
};

struct column_range {
  std::int32_t least = std::numeric_limits<std::int32_t>::max(), most = 0;
};
column_range range_of(const std::int32_t* col, index_t count) {
  column_range range;
  cpu::widest([&]() FURROW_INLINE {
    std::int32_t least = range.least, most = range.most;
#pragma omp simd reduction(min : least) reduction(max : most)
    for (index_t k = 0; k < count; ++k) {
      least = std::min(least, col[k]);
      most = std::max(most, col[k]);
    }
    range = {least, most};
  });
  return range;
}

template <class Set> index_t distinct(const std::int32_t* sector, index_t count, Set& set) {
  index_t distinct = 0;
  set.next_group();
  for (index_t k = 0; k < count; ++k) distinct += set.is_new(sector[k]); // without a branch
  for (index_t k = 0; k < count; ++k) set.leave(sector[k]);
  return distinct;
}

/// Distinct sectors of the k-th entries of `slice_rows` rows, over all k. `begin` has an element more than there are
/// rows.
template <class Triplets, class Set>
index_t sectors_of_slice(const Triplets& a, const index_t* begin, index_t rows, Set& set) {
  const std::int32_t* const col = a.col.begin();
  const index_t last = begin[rows] - 1;
  index_t longest = 0, shortest = std::numeric_limits<index_t>::max(), sectors = 0;
  for (index_t r = 0; r < rows; ++r) {
    longest = std::max(longest, begin[r + 1] - begin[r]);
    shortest = std::min(shortest, begin[r + 1] - begin[r]);
  }
  std::array<std::int32_t, slice_rows> sector;
  index_t k = 0;
  for (; k < shortest; ++k) {
    for (index_t r = 0; r < rows; ++r) sector[r] = sector_of(col[begin[r] + k]);
    sectors += distinct(sector.data(), rows, set);
  }
  // Of those that have a k-th entry, in their order; and those that had one before, of which there are ever fewer.
  std::array<std::int32_t, slice_rows> there;
  index_t longer = rows;
  std::iota(there.begin(), there.begin() + rows, 0);
  for (; k < longest; ++k) {
    index_t count = 0;
    for (index_t n = 0; n < longer; ++n) { // without a branch
      const std::int32_t r = there[n];
      sector[count] = sector_of(col[std::min(begin[r] + k, last)]);
      there[count] = r;
      count += begin[r] + k < begin[r + 1];
    }
    longer = count;
    if (longer == 1) return sectors + begin[there[0] + 1] - begin[there[0]] - k;
    sectors += distinct(sector.data(), longer, set);
  }
  return sectors;
}

/// Of the entries [first, last), whose rows have the columns ascending: those whose sector is not that of the one
/// before.
template <class Triplets> index_t sectors_of_rows(const Triplets& a, const std::vector<index_t>& begin) {
  const std::int32_t* const col = a.col.begin();
  const index_t first = begin.front(), last = begin.back();
  index_t changes = first < last;
  cpu::widest([&]() FURROW_INLINE {
    std::int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (index_t k = first + 1; k < last; ++k)
      sum += static_cast<std::uint32_t>(col[k]) / locality::elements !=
             static_cast<std::uint32_t>(col[k - 1]) / locality::elements;
    changes += sum;
  });
  for (std::size_t r = 1; r + 1 < begin.size(); ++r) { // an entry that begins a row counts
    const index_t k = begin[r];
    changes += k > first && k < begin[r + 1] && sector_of(col[k]) == sector_of(col[k - 1]);
  }
  return changes;
}

template <class Set, class Triplets>
void count_distinct_sectors(const Triplets& a, const std::vector<index_t>& begin, Set set, counts& c) {
  const index_t rows = std::ssize(begin) - 1;
  for (index_t r = 0; r < rows; r += slice_rows)
    c.by_slice += sectors_of_slice(a, begin.data() + r, std::min(slice_rows, rows - r), set);
  set.next_group();
  index_t by_window = 0;
  const std::int32_t* const col = a.col.begin();
  for (index_t k = begin[0]; k < begin[rows]; ++k) by_window += set.is_new(sector_of(col[k]));
  c.by_window = by_window;
}

template <class Triplets> counts look_at_window(const Triplets& a, const stats& s, index_t first_row, index_t rows) {
  const std::vector<index_t> begin = starts_of_rows(rows_of_entries(a), s.row_length, first_row, rows);
  counts c;
  c.entries = begin[rows] - begin[0];
  if (c.entries == 0) return c;
  c.by_row = sectors_of_rows(a, begin);
  const auto [least, most] = range_of(a.col.begin() + begin[0], c.entries);
  if (sector_of(most) - sector_of(least) <= 8 * c.entries)
    count_distinct_sectors(a, begin, stamps(sector_of(least), sector_of(most)), c);
  else count_distinct_sectors(a, begin, sector_bits(sector_of(least), sector_of(most)), c);
  return c;
}

} // namespace

spread_rows windows_of_locality(const stats& s) {
  const index_t rows = s.shape.rows, windows = sampled_rows(s, 4 * window_rows, 64 * window_rows) / window_rows;
  const index_t most = std::max<index_t>(1, (rows + window_rows - 1) / window_rows);
  return {rows, window_rows, most, std::min(windows, most)};
}

template <class Triplets> locality measure_locality(const Triplets& a, const stats& s) {
  const spread_rows sample = windows_of_locality(s);
  std::vector<counts> found(static_cast<std::size_t>(sample.count));
  cpu::for_each_task(sample.count,
                     [&](index_t w) { found[w] = look_at_window(a, s, sample[w].first, sample[w].count); });
  counts all;
  for (const counts& c : found) {
    all.entries += c.entries;
    all.by_row += c.by_row;
    all.by_slice += c.by_slice;
    all.by_window += c.by_window;
  }
  return all.shares();
}

template locality measure_locality(const coo<double>&, const stats&);
template locality measure_locality(const borrowed_rows<double>&, const stats&);
template locality measure_locality(const coo<float>&, const stats&);
template locality measure_locality(const borrowed_rows<float>&, const stats&);

} // namespace furrow
