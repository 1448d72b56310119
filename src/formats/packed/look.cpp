// SPDX-License-Identifier: BSD-3-Clause
#include "deltas.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"
#include "core/entries_before.hpp"
#include "core/look.hpp"

#include <algorithm>
#include <array>
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

column_bytes& operator+=(column_bytes& to, const column_bytes& more) {
  to.bytes += more.bytes;
  to.places += more.places;
  return to;
}

/// Sampled slices of a window of these rows, of which the longest come first where they are `sorted`.
template <class Triplets>
column_bytes look_at_rows(const Triplets& a, const stats& s, row_range rows, const spread_rows& slices, bool sorted) {
  const auto start = starts_of_rows(rows_of_entries(a), s.row_length, rows.first, rows.count);
  const auto length = [&](index_t r) { return start[r + 1] - start[r]; };
  const std::vector<index_t> order = sorted ? longest_first(start) : in_order(rows.count);
  const std::int32_t* const col = a.col.begin();
  std::vector<std::int32_t> least, most; // columns of each slot
  column_bytes sum;
  for (index_t n = 0; n < slices.count; ++n) {
    const index_t begin = slices[n].first, end = std::min(rows.count, begin + delta_rows);
    index_t width = 0, largest = 0;
    for (index_t p = begin; p < end; ++p) width = std::max(width, length(order[p]));
    least.assign(static_cast<std::size_t>(width), std::numeric_limits<std::int32_t>::max());
    most.assign(static_cast<std::size_t>(width), 0);
    cpu::widest([&]() FURROW_INLINE {
      std::int32_t *const low = least.data(), *const high = most.data();
      for (index_t p = begin; p < end; ++p) {
        const std::int32_t* const from = col + start[order[p]];
        const auto entries = static_cast<std::int32_t>(length(order[p]));
#pragma omp simd
        for (std::int32_t k = 0; k < entries; ++k) {
          low[k] = std::min(low[k], from[k]);
          high[k] = std::max(high[k], from[k]);
        }
      }
      std::int32_t widest = 0;
#pragma omp simd reduction(max : widest)
      for (index_t k = 0; k < width; ++k) widest = std::max(widest, high[k] - low[k]);
      largest = widest;
    });
    sum.bytes += bytes_of_slice(width, largest);
    sum.places += delta_rows * width;
  }
  return sum;
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
  struct piece { // windows [first, first + count) of those that are sampled
    std::size_t window;
    index_t first, count;
  };
  std::array<spread_rows, sorting_windows.size()> rows{}, slices{};
  std::vector<piece> pieces; // the longest first: a few large windows, or many small ones
  for (std::size_t k = sorting_windows.size(); k-- > 0;) {
    if (k > 0 && s.slice_places[k] < 0) continue;
    rows[k] = sampled_windows(s, sorting_windows[k]);
    slices[k] = slices_of_window(s, rows[k]);
    const index_t together = std::max<index_t>(1, 1024 / rows[k].height);
    for (index_t first = 0; first < rows[k].count; first += together)
      pieces.push_back({k, first, std::min(together, rows[k].count - first)});
  }
  std::vector<column_bytes> found(pieces.size());
  cpu::for_each_task(std::ssize(pieces), [&](index_t n) {
    const piece& one = pieces[static_cast<std::size_t>(n)];
    column_bytes sum;
    for (index_t w = one.first; w < one.first + one.count; ++w)
      sum += look_at_rows(a, s, rows[one.window][w], slices[one.window], one.window > 0);
    found[static_cast<std::size_t>(n)] = sum;
  });
  std::array<column_bytes, sorting_windows.size()> total{};
  for (std::size_t n = 0; n < pieces.size(); ++n) total[pieces[n].window] += found[n];
  estimate_numbers bytes{};
  for (std::size_t k = 0; k < sorting_windows.size(); ++k)
    bytes[k] = k == 0 || s.slice_places[k] >= 0 ? total[k].a_place() : bytes[0];
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
