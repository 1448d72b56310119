// SPDX-License-Identifier: BSD-3-Clause
#include "slicing.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace furrow {
namespace {

index_t pieces_of(index_t n, index_t size) { return (n + size - 1) / size; }

/// Lengths below this are counted; longer ones, of which there are few, are sorted.
constexpr std::int32_t longer_from = 256;
/// A window is walked by its quarters at once: a row as long as the one before would wait for the counter of both.
constexpr int quarters = 4;
using counters = std::array<std::array<std::int32_t, longer_from>, quarters>;

/// body(q, r) for each row r of [0, n) in its quarter q, ascending inside each.
template <class F> void by_quarters(index_t n, F body) {
  const index_t each = n / quarters;
  for (index_t r = 0; r < each; ++r)
    for (int q = 0; q < quarters; ++q) body(q, q * each + r);
  for (index_t r = quarters * each; r < n; ++r) body(quarters - 1, r);
}

/// count[q][l] <- the rows of quarter q that have length l, for each l up to the longest that is counted, which is
/// returned; longer(r) for each row r that is not.
template <class F> std::int32_t count_quarters(const std::int32_t* length, index_t n, counters& count, F longer) {
  const std::int32_t most = n ? *std::max_element(length, length + n) : 0, longest = std::min(most, longer_from - 1);
  for (auto& some : count) std::fill_n(some.begin(), longest + 1, 0);
  by_quarters(n, [&](int q, index_t r) {
    if (length[r] < longer_from) ++count[q][length[r]];
  });
  for (index_t r = 0; most >= longer_from && r < n; ++r)
    if (length[r] >= longer_from) longer(r);
  return longest;
}

/// The lengths of the rows of a window; those of neighbouring windows add up to those of a larger one.
class window_lengths {
public:
  /// Of `n` rows, in place of what was here.
  void count(const std::int32_t* length, index_t n) {
    counters found;
    longer_.clear();
    longest_ = count_quarters(length, n, found, [&](index_t r) { longer_.push_back(length[r]); });
    for (std::int32_t l = 0; l <= longest_; ++l) count_[l] = found[0][l] + found[1][l] + found[2][l] + found[3][l];
    std::ranges::sort(longer_, std::greater<>{});
  }
  void add(const window_lengths& other) {
    if (longest_ < other.longest_) std::fill(count_.begin() + longest_ + 1, count_.begin() + other.longest_ + 1, 0);
    longest_ = std::max(longest_, other.longest_);
    for (std::int32_t l = 0; l <= other.longest_; ++l) count_[l] += other.count_[l];
    const auto middle = std::ssize(longer_);
    longer_.insert(longer_.end(), other.longer_.begin(), other.longer_.end());
    std::inplace_merge(longer_.begin(), longer_.begin() + middle, longer_.end(), std::greater<>{});
  }
  void clear() {
    longest_ = -1;
    longer_.clear();
  }
  /// Places in slices of these rows, longest first.
  index_t places(index_t height) const {
    const int bits = std::countr_zero(static_cast<std::uint64_t>(height));
    const auto slices_of = [&](index_t rows) { return (rows + height - 1) >> bits; };
    index_t columns = 0, rows = std::ssize(longer_), slices = slices_of(rows); // that begin with a longer row
    for (index_t r = 0; r < rows; r += height) columns += longer_[static_cast<std::size_t>(r)];
    for (std::int32_t l = longest_; l > 0; --l) {
      rows += count_[l];
      columns += l * (slices_of(rows) - slices);
      slices = slices_of(rows);
    }
    return height * columns;
  }

private:
  std::int32_t longest_ = -1;                   ///< of those that are counted
  std::array<std::int32_t, longer_from> count_; ///< [l]: rows of length l, up to the longest
  std::vector<std::int32_t> longer_;            ///< longest first
};

/// Places of rows as they lie.
index_t places_in_order(const std::int32_t* length, index_t n, index_t height) {
  index_t columns = 0;
  for (index_t r = 0; r < n; r += height) columns += *std::max_element(length + r, length + std::min(n, r + height));
  return height * columns;
}

/// The sum of body(first, last) over stretches of [0, n) of `size`, a task each.
template <class T, class F> T sum_over_stretches(index_t n, index_t size, F body) {
  const index_t stretches = pieces_of(n, size);
  std::vector<T> found(static_cast<std::size_t>(stretches));
  cpu::for_each_task(stretches, [&](index_t k) { found[k] = body(k * size, std::min(n, (k + 1) * size)); });
  T sum{};
  for (const T& one : found) sum += one;
  return sum;
}

/// Places for each of `sorting_windows` but the first.
struct sorted_places {
  std::array<index_t, sorting_windows.size() - 1> of{};
  sorted_places& operator+=(const sorted_places& other) {
    for (std::size_t k = 0; k < of.size(); ++k) of[k] += other.of[k];
    return *this;
  }
};

/// Of rows that begin where windows of every kind do: the smallest windows are counted, larger ones are their sums.
sorted_places sorted_places_of(const std::int32_t* length, index_t n, index_t height) {
  sorted_places places;
  std::array<window_lengths, std::tuple_size_v<decltype(places.of)>> window;
  for (index_t first = 0; first < n; first += sorting_windows[1]) {
    const index_t last = std::min(n, first + sorting_windows[1]);
    window[0].count(length + first, last - first);
    for (std::size_t k = 0; k < window.size(); ++k) {
      if (last % sorting_windows[k + 1] != 0 && last < n) break; // rows to come belong to it
      places.of[k] += window[k].places(height);
      if (k + 1 < window.size()) window[k + 1].add(window[k]);
      window[k].clear();
    }
  }
  return places;
}

} // namespace

index_t places_of(const host_array<std::int32_t>& length, slicing s) {
  constexpr index_t enough_rows = 4096; // for a task; all sizes are powers of two
  const std::int32_t* const begin = length.data();
  return sum_over_stretches<index_t>(length.size(), std::max(s.window, enough_rows), [&](index_t first, index_t last) {
    if (s.window == 1) return places_in_order(begin + first, last - first, s.height);
    window_lengths window;
    index_t places = 0;
    for (index_t at = first; at < last; at += s.window) {
      window.count(begin + at, std::min(s.window, last - at));
      places += window.places(s.height);
    }
    return places;
  });
}

window_places places_of_windows(const host_array<std::int32_t>& length, index_t nnz, index_t height) {
  window_places places;
  places.fill(-1);
  places[0] = places_of(length, {height, 1});
  if (hardly_padded(places[0], nnz)) return places;
  const auto sorted =
      sum_over_stretches<sorted_places>(length.size(), sorting_windows.back(), [&](index_t first, index_t last) {
        return sorted_places_of(length.data() + first, last - first, height);
      });
  std::ranges::copy(sorted.of, places.begin() + 1);
  return places;
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

/// Of rows with `nnz` entries; places: as `places_of_windows`.
slicing best_of(index_t rows, index_t nnz, index_t height, double place_bytes, const window_places& places) {
  if (hardly_padded(places[0], nnz)) return {height, 1};
  const double rows_bytes = 4 * double(rows);
  std::array<double, sorting_windows.size()> bytes{place_bytes * double(places[0])};
  for (std::size_t k = 1; k < bytes.size(); ++k) {
    const index_t window = sorting_windows[k];
    const bool more = k == 1 || sorting_windows[k - 1] < rows; // otherwise the same as the one before
    const double beside = rows_bytes + bytes_of_shared_lines(rows, nnz, window);
    bytes[k] = more ? place_bytes * double(places[k]) + beside : bytes[k - 1];
  }
  const double enough = 1.02 * *std::ranges::min_element(bytes);
  const auto taken = std::ranges::find_if(bytes, [&](double b) { return b <= enough; });
  return {height, sorting_windows[static_cast<std::size_t>(taken - bytes.begin())]};
}

} // namespace

slicing best_slicing(const host_array<std::int32_t>& length, index_t height, double place_bytes) {
  const index_t nnz = std::accumulate(length.begin(), length.end(), index_t(0));
  return best_of(length.size(), nnz, height, place_bytes, places_of_windows(length, nnz, height));
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
  window_places places{places_of(s, {height, 1})};
  if (!hardly_padded(places[0], s.nnz))
    for (std::size_t k = 1; k < places.size(); ++k) places[k] = places_of(s, {height, sorting_windows[k]});
  return best_of(s.shape.rows, s.nnz, height, place_bytes, places);
}

namespace {

/// order[0 .. n) <- the rows first, first + 1, ... of these lengths, longest first, equal ones in their order.
void sort_rows(const std::int32_t* length, index_t first, index_t n, std::int32_t* order) {
  counters place;
  std::int32_t at = 0;
  const std::int32_t longest =
      count_quarters(length, n, place, [&](index_t r) { order[at++] = static_cast<std::int32_t>(first + r); });
  std::stable_sort(order, order + at,
                   [&](std::int32_t a, std::int32_t b) { return length[a - first] > length[b - first]; });
  for (std::int32_t l = longest; l >= 0; --l)
    for (auto& some : place) at += std::exchange(some[l], at);
  by_quarters(n, [&](int q, index_t r) {
    if (length[r] < longer_from) order[place[q][length[r]]++] = static_cast<std::int32_t>(first + r);
  });
}

} // namespace

host_array<std::int32_t> sorted_rows(const host_array<std::int32_t>& length, slicing s) {
  if (s.window == 1) return {};
  const index_t rows = length.size();
  host_array<std::int32_t> order(rows);
  cpu::for_each_task(pieces_of(rows, s.window), [&](index_t k) {
    const index_t first = k * s.window;
    sort_rows(length.data() + first, first, std::min(s.window, rows - first), order.data() + first);
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
      const index_t p = s * height; // of sorted rows the longest
      const std::int32_t* const begin = length.data();
      slice_ptr[s + 1] =
          height * (order.empty() ? *std::max_element(begin + p, begin + std::min(rows, p + height)) : begin[order[p]]);
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
