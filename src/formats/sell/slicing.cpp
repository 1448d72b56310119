// SPDX-License-Identifier: BSD-3-Clause
#include "slicing.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

namespace furrow {
namespace {

index_t pieces_of(index_t n, index_t size) { return (n + size - 1) / size; }

/// The lengths of [first, last), longest first, into `sorted`.
void sort_lengths(const std::int32_t* first, const std::int32_t* last, std::vector<std::int32_t>& sorted,
                  std::vector<std::int32_t>& count) {
  const index_t longest = first == last ? 0 : *std::max_element(first, last);
  sorted.assign(first, last);
  if (longest > 4 * (last - first)) return std::sort(sorted.begin(), sorted.end(), std::greater<>{});
  count.assign(static_cast<std::size_t>(longest + 1), 0);
  for (const std::int32_t* l = first; l < last; ++l) ++count[static_cast<std::size_t>(*l)];
  auto to = sorted.begin();
  for (index_t l = longest; l >= 0; --l)
    to = std::fill_n(to, count[static_cast<std::size_t>(l)], static_cast<std::int32_t>(l));
}

} // namespace

index_t places_of(const host_array<std::int32_t>& length, slicing s) {
  const index_t rows = length.size(), stretch = std::max(s.window, index_t(4096)); // all powers of two
  const index_t stretches = pieces_of(rows, stretch);
  std::vector<index_t> found(static_cast<std::size_t>(stretches));
  cpu::for_each_task(stretches, [&](index_t k) {
    const std::int32_t* const end = length.data() + std::min(rows, (k + 1) * stretch);
    std::vector<std::int32_t> sorted, count;
    index_t total = 0;
    const index_t step = std::max(s.window, s.height);
    for (const std::int32_t* at = length.data() + k * stretch; at < end; at += step) {
      const std::int32_t* const last = at + std::min<index_t>(step, end - at);
      if (s.window == 1) {
        total += s.height * *std::max_element(at, last);
      } else {
        sort_lengths(at, last, sorted, count);
        for (std::size_t r = 0; r < sorted.size(); r += static_cast<std::size_t>(s.height))
          total += s.height * sorted[r];
      }
    }
    found[static_cast<std::size_t>(k)] = total;
  });
  return std::accumulate(found.begin(), found.end(), index_t(0));
}

namespace {

/// What it costs, in bytes, that threads write rows of the same lines of y: they do where a window is more than a
/// quarter of all rows, and where there is work for more than one of them (four pieces, see `cut_rows`). 48 a row is
/// fitted: with it products of 107 real matrices by 2 threads of an Intel Xeon take 1.02 times the time that the
/// best window takes, 1.24 at worst; without it 1.07, and 2.6 at worst (2,048 rows in one window).
double bytes_of_shared_lines(index_t rows, index_t nnz, index_t window) {
  constexpr index_t enough_work = 3 * 4096;
  return 4 * window > rows && nnz > enough_work ? 48 * double(rows) : 0;
}

/// Of rows with `nnz` entries, whose places `places_with` counts for a window.
template <class Places>
slicing best_of(index_t rows, index_t nnz, index_t height, double place_bytes, const Places& places_with) {
  const index_t plain = places_with(1);
  if (hardly_padded(plain, nnz)) return {height, 1};
  const double rows_bytes = 4 * double(rows);
  std::array<double, sorting_windows.size()> bytes{place_bytes * double(plain)};
  for (std::size_t k = 1; k < bytes.size(); ++k) {
    const index_t window = sorting_windows[k];
    const bool more = k == 1 || sorting_windows[k - 1] < rows; // otherwise the same as the one before
    const double beside = rows_bytes + bytes_of_shared_lines(rows, nnz, window);
    bytes[k] = more ? place_bytes * double(places_with(window)) + beside : bytes[k - 1];
  }
  const double enough = 1.02 * *std::ranges::min_element(bytes);
  const auto taken = std::ranges::find_if(bytes, [&](double b) { return b <= enough; });
  return {height, sorting_windows[static_cast<std::size_t>(taken - bytes.begin())]};
}

} // namespace

slicing best_slicing(const host_array<std::int32_t>& length, index_t height, double place_bytes) {
  const index_t nnz = std::accumulate(length.begin(), length.end(), index_t(0));
  return best_of(length.size(), nnz, height, place_bytes, [&](index_t window) {
    return places_of(length, {height, window});
  });
}

index_t counted_places(const stats& s, slicing how) {
  const auto counted = std::ranges::find(sorting_windows, how.window);
  if (!s.lengths_known() || how.height != usual_height || counted == sorting_windows.end()) return -1;
  const index_t places = s.slice_places[static_cast<std::size_t>(counted - sorting_windows.begin())];
  return places >= s.nnz ? places : -1; // of lengths that were counted without slices
}

index_t places_of(const stats& s, slicing how) {
  if (const index_t places = counted_places(s, how); places >= 0) return places;
  if (!s.row_length.empty()) return places_of(s.row_length, how);
  index_t most = s.slice_places[0]; // sorted inside larger windows, rows have no more places
  for (std::size_t k = 1; k < sorting_windows.size() && sorting_windows[k] <= how.window; ++k)
    if (s.slice_places[k] >= 0) most = s.slice_places[k];
  return most * std::max<index_t>(1, how.height / usual_height);
}

slicing best_slicing(const stats& s, index_t height, double place_bytes) {
  return best_of(s.shape.rows, s.nnz, height, place_bytes, [&](index_t window) {
    return places_of(s, {height, window});
  });
}

host_array<std::int32_t> sorted_rows(const host_array<std::int32_t>& length, slicing s) {
  if (s.window == 1) return {};
  const index_t rows = length.size();
  host_array<std::int32_t> order(rows);
  cpu::for_each_task(pieces_of(rows, s.window), [&](index_t k) {
    std::int32_t* const first = order.data() + k * s.window;
    std::int32_t* const last = order.data() + std::min(rows, (k + 1) * s.window);
    std::iota(first, last, static_cast<std::int32_t>(k * s.window));
    std::stable_sort(first, last, [&](std::int32_t a, std::int32_t b) { return length[a] > length[b]; });
  });
  return order;
}

host_array<std::int32_t> lengths_of(const host_array<index_t>& row_ptr) {
  host_array<std::int32_t> length(row_ptr.size() - 1);
  cpu::for_each_range(length.size(), 1 << 15, [&](index_t first, index_t last) {
    for (index_t r = first; r < last; ++r) length[r] = static_cast<std::int32_t>(row_ptr[r + 1] - row_ptr[r]);
  });
  return length;
}

host_array<index_t> offsets_of_slices(const host_array<std::int32_t>& length, const host_array<std::int32_t>& order,
                                      index_t height) {
  const index_t rows = length.size(), slices = pieces_of(rows, height);
  host_array<index_t> slice_ptr(slices + 1);
  cpu::for_each_range(slices, 1 << 10, [&](index_t first, index_t last) {
    for (index_t s = first; s < last; ++s) {
      std::int32_t width = 0;
      for (index_t p = s * height; p < std::min(rows, (s + 1) * height); ++p)
        width = std::max(width, length[order.empty() ? p : order[p]]);
      slice_ptr[s + 1] = height * width;
    }
  });
  slice_ptr[0] = 0;
  for (index_t s = 0; s < slices; ++s) slice_ptr[s + 1] += slice_ptr[s];
  return slice_ptr;
}

slice_plan plan_slices(const stats& s, std::string_view format, index_t height, index_t window, double place_bytes) {
  slice_plan plan{{height, window ? window : 1}, double(pieces_of(s.shape.rows, height)), 0};
  if (s.lengths_known()) {
    if (window == 0) plan.how = best_slicing(s, height, place_bytes);
    plan.places = double(places_of(s, plan.how));
  } else {
    plan.places = plan.slices * double(height) * s.row_mean;
  }
  const double fill = plan.places / double(std::max<index_t>(s.nnz, 1));
  if (fill > most_padding && plan.places > 1 << 20)
    plan.refusal = fmt::format("format {} would store {:.3g} places for each entry, more than {}: its longest rows are "
                               "too long for their slices; choose csr or a larger window",
                               format, fill, most_padding);
  return plan;
}

} // namespace furrow
