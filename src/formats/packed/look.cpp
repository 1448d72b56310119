// SPDX-License-Identifier: BSD-3-Clause
#include "deltas.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/entries_before.hpp"
#include "core/look.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace furrow {
namespace packed_format {
namespace {

std::vector<index_t> in_order(index_t count) {
  std::vector<index_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), index_t(0));
  return order;
}

/// The rows that begin there, the longest first, and of equal ones those that come first: counted by their lengths,
/// which takes a pass, unless some are longer than there are rows by far.
std::vector<index_t> longest_first(const std::vector<index_t>& start) {
  const index_t count = std::ssize(start) - 1;
  const auto length = [&](index_t r) { return start[r + 1] - start[r]; };
  index_t longest = 0;
  for (index_t r = 0; r < count; ++r) longest = std::max(longest, length(r));
  std::vector<index_t> order = in_order(count);
  if (longest > 16 * count) {
    std::ranges::stable_sort(order, [&](index_t r, index_t s) { return length(r) > length(s); });
    return order;
  }
  std::vector<index_t> place(static_cast<std::size_t>(longest) + 2, 0); // of the next row with so many entries
  for (index_t r = 0; r < count; ++r) ++place[longest - length(r) + 1];
  std::partial_sum(place.begin(), place.end(), place.begin());
  for (index_t r = 0; r < count; ++r) order[place[longest - length(r)]++] = r;
  return order;
}

/// Sampled slices of a window of these rows, of which the longest come first where they are `sorted`.
template <class Triplets>
column_bytes look_at_rows(const Triplets& a, const stats& s, row_range rows, const spread_rows& slices, bool sorted) {
  const auto start = starts_of_rows(a.row, s.row_length, rows.first, rows.count);
  const auto length = [&](index_t r) { return start[r + 1] - start[r]; };
  const std::vector<index_t> order = sorted ? longest_first(start) : in_order(rows.count);
  struct range {
    std::int32_t least = std::numeric_limits<std::int32_t>::max(), most = 0;
  };
  std::vector<range> slot;
  column_bytes sum;
  for (index_t n = 0; n < slices.count; ++n) {
    slot.clear();
    for (index_t p = slices[n].first; p < std::min(rows.count, slices[n].first + delta_rows); ++p) {
      const index_t row = order[p];
      if (length(row) > static_cast<index_t>(slot.size())) slot.resize(static_cast<std::size_t>(length(row)));
      for (index_t k = 0; k < length(row); ++k) {
        slot[k].least = std::min(slot[k].least, a.col[start[row] + k]);
        slot[k].most = std::max(slot[k].most, a.col[start[row] + k]);
      }
    }
    index_t largest = 0;
    for (const range& r : slot) largest = std::max(largest, index_t(r.most) - r.least);
    const auto width = std::ssize(slot);
    sum.bytes += bytes_of_slice(width, largest);
    sum.places += delta_rows * width;
  }
  return sum;
}

template <class Triplets> double measure_window(const Triplets& a, const stats& s, index_t window) {
  const spread_rows rows = sampled_windows(s, window), slices = slices_of_window(s, rows);
  std::vector<column_bytes> found(static_cast<std::size_t>(rows.count));
  cpu::for_each_range(rows.count, 4, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k)
      found[static_cast<std::size_t>(k)] = look_at_rows(a, s, rows[k], slices, window > 1);
  });
  column_bytes total;
  for (const column_bytes& one : found) {
    total.bytes += one.bytes;
    total.places += one.places;
  }
  return total.a_place();
}

std::vector<row_range> rows_of_column_bytes(const stats& s) {
  std::vector<row_range> all;
  for (std::size_t k = 0; k < sorting_windows.size(); ++k) {
    if (s.slice_places[k] < 0) continue;
    const auto some = ranges_of(sampled_windows(s, sorting_windows[k]));
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

template <class V> estimate_numbers measure_column_bytes(const sight<V>& a, const stats& s) {
  static_assert(std::tuple_size_v<estimate_numbers> >= sorting_windows.size());
  estimate_numbers bytes{};
  for (std::size_t k = 0; k < sorting_windows.size(); ++k)
    bytes[k] = k == 0 || s.slice_places[k] >= 0 ? measure_window(a, s, sorting_windows[k]) : bytes[0];
  return bytes;
}

} // namespace

extern const format_look look{"packed", rows_of_column_bytes, measure_column_bytes<double>,
                              measure_column_bytes<float>};

} // namespace packed_format

column_byte_counts column_bytes_of(const stats& s) {
  column_byte_counts bytes;
  bytes.fill(4);
  if (const estimate_numbers* const found = estimate_of(s, "packed"))
    std::copy_n(found->begin(), bytes.size(), bytes.begin());
  return bytes;
}

} // namespace furrow
