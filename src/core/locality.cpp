// SPDX-License-Identifier: BSD-3-Clause
#include "locality.hpp"
#include "sample.hpp"

#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace furrow {
namespace {

using counts = locality_counts;
constexpr index_t window_rows = locality_counts::window_rows, slice_rows = locality_counts::slice_rows;

/// Counts different numbers: an open hash table, which a new generation empties.
class distinct_numbers {
public:
  explicit distinct_numbers(index_t most)
      : place_(std::bit_ceil(static_cast<std::size_t>(2 * most + 2))), shift_(64 - std::countr_zero(place_.size())) {}
  void clear() { ++generation_, count_ = 0; }
  void add(std::int32_t number) {
    auto at = static_cast<std::size_t>(static_cast<std::uint32_t>(number) * 0x9e3779b97f4a7c15 >> shift_);
    for (; place_[at].generation == generation_; at = (at + 1) & (place_.size() - 1))
      if (place_[at].number == number) return;
    place_[at] = {number, generation_};
    ++count_;
  }
  index_t count() const { return count_; }

private:
  struct place {
    std::int32_t number = 0;
    std::uint32_t generation = 0;
  };
  std::vector<place> place_;
  int shift_;
  std::uint32_t generation_ = 1;
  index_t count_ = 0;
};

std::int32_t sector_of(std::int32_t col) { return col / locality::elements; }

/// Distinct sectors of the k-th entries of `slice_rows` rows, over all k. `begin` has an element more than there are
/// rows.
template <class Triplets>
index_t sectors_of_slice(const Triplets& a, const index_t* begin, index_t rows, distinct_numbers& set) {
  index_t longest = 0, distinct = 0;
  for (index_t r = 0; r < rows; ++r) longest = std::max(longest, begin[r + 1] - begin[r]);
  for (index_t k = 0; k < longest; ++k) {
    set.clear();
    for (index_t r = 0; r < rows; ++r)
      if (begin[r] + k < begin[r + 1]) set.add(sector_of(a.col[begin[r] + k]));
    distinct += set.count();
  }
  return distinct;
}

template <class Triplets> counts look_at_window(const Triplets& a, index_t first_row, index_t rows) {
  const auto* const row = a.row.begin();
  std::vector<index_t> begin(static_cast<std::size_t>(rows + 1));
  begin[0] = std::lower_bound(row, a.row.end(), first_row) - row;
  for (index_t r = 0; r < rows; ++r) {
    index_t end = begin[r];
    while (end < a.nnz() && row[end] == first_row + r) ++end;
    begin[r + 1] = end;
  }
  counts c;
  c.entries = begin[rows] - begin[0];
  distinct_numbers all(c.entries), some(slice_rows);
  for (index_t r = 0; r < rows; ++r)
    for (index_t k = begin[r]; k < begin[r + 1]; ++k) {
      if (k > begin[r] && sector_of(a.col[k - 1]) == sector_of(a.col[k])) continue;
      all.add(sector_of(a.col[k]));
      ++c.by_row;
    }
  for (index_t r = 0; r < rows; r += slice_rows)
    c.by_slice += sectors_of_slice(a, begin.data() + r, std::min(slice_rows, rows - r), some);
  c.by_window = all.count();
  return c;
}

} // namespace

spread_rows windows_of_locality(const stats& s) {
  const index_t rows = s.shape.rows, windows = sampled_rows(s, 8 * window_rows, 64 * window_rows) / window_rows;
  const index_t most = std::max<index_t>(1, (rows + window_rows - 1) / window_rows);
  return {rows, window_rows, most, std::min(windows, most)};
}

template <class Triplets> locality measure_locality(const Triplets& a, const stats& s) {
  const spread_rows sample = windows_of_locality(s);
  std::vector<counts> found(static_cast<std::size_t>(sample.count));
  cpu::for_each_task(sample.count, [&](index_t w) { found[w] = look_at_window(a, sample[w].first, sample[w].count); });
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
template locality measure_locality(const borrowed_coo<double>&, const stats&);
template locality measure_locality(const coo<float>&, const stats&);
template locality measure_locality(const borrowed_coo<float>&, const stats&);

} // namespace furrow
