// SPDX-License-Identifier: BSD-3-Clause
#include "locality.hpp"

#include "entries_before.hpp"
#include "sample.hpp"

#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

namespace furrow {
namespace {

using counts = locality_counts;
constexpr index_t window_rows = locality_counts::window_rows, slice_rows = locality_counts::slice_rows;

/// Counts different numbers: a bit each, without a branch.
class distinct_numbers {
public:
  explicit distinct_numbers(index_t numbers) : bits_(static_cast<std::size_t>(numbers / 64 + 1), 0) {}
  void add(std::int32_t number) {
    std::uint64_t& word = bits_[static_cast<std::uint32_t>(number) / 64];
    const auto bit = std::uint64_t(1) << static_cast<std::uint32_t>(number) % 64;
    count_ += (word & bit) == 0;
    word |= bit;
  }
  void remove(std::int32_t number) {
    bits_[static_cast<std::uint32_t>(number) / 64] &= ~(std::uint64_t(1) << static_cast<std::uint32_t>(number) % 64);
  }
  /// How many were added that were not there.
  index_t count() const { return count_; }

private:
  std::vector<std::uint64_t> bits_;
  index_t count_ = 0;
};

std::int32_t sector_of(std::int32_t col) { return col / locality::elements; }

/// Distinct sectors of the k-th entries of `slice_rows` rows, over all k. `begin` has an element more than there are
/// rows.
template <class Triplets>
index_t sectors_of_slice(const Triplets& a, const index_t* begin, index_t rows, distinct_numbers& set) {
  std::array<index_t, slice_rows> order;
  const auto length = [&](index_t r) { return begin[r + 1] - begin[r]; };
  std::iota(order.begin(), order.begin() + rows, index_t(0));
  std::sort(order.begin(), order.begin() + rows, [&](index_t r, index_t s) { return length(r) > length(s); });
  index_t distinct = 0, longer = rows; // longer: rows that have a k-th entry
  for (index_t k = 0;; ++k) {
    while (longer > 0 && length(order[longer - 1]) <= k) --longer;
    if (longer <= 1) return distinct + (longer ? length(order[0]) - k : 0);
    const auto each = [&](auto&& f) {
      for (index_t r = 0; r < longer; ++r) f(sector_of(a.col[begin[order[r]] + k]));
    };
    const index_t before = set.count();
    each([&](std::int32_t sector) { set.add(sector); });
    distinct += set.count() - before;
    each([&](std::int32_t sector) { set.remove(sector); });
  }
}

template <class Triplets> counts look_at_window(const Triplets& a, const stats& s, index_t first_row, index_t rows) {
  const std::vector<index_t> begin = starts_of_rows(as_cview(a.row), s.row_length, first_row, rows);
  counts c;
  c.entries = begin[rows] - begin[0];
  distinct_numbers set(sector_of(static_cast<std::int32_t>(a.shape.cols)) + 1);
  for (index_t r = 0; r < rows; r += slice_rows)
    c.by_slice += sectors_of_slice(a, begin.data() + r, std::min(slice_rows, rows - r), set);
  const index_t before = set.count();
  for (index_t r = 0; r < rows; ++r)
    for (index_t k = begin[r]; k < begin[r + 1]; ++k) {
      c.by_row += k == begin[r] || sector_of(a.col[k - 1]) != sector_of(a.col[k]);
      set.add(sector_of(a.col[k]));
    }
  c.by_window = set.count() - before;
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
template locality measure_locality(const borrowed_coo<double>&, const stats&);
template locality measure_locality(const coo<float>&, const stats&);
template locality measure_locality(const borrowed_coo<float>&, const stats&);

} // namespace furrow
