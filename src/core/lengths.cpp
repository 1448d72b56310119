// SPDX-License-Identifier: BSD-3-Clause
#include "measure.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/mispredicted_lengths.hpp"
#include "formats/sell/slicing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace furrow {
namespace {

void count_slices(stats& s) {
  const auto count = [&](std::size_t k) { return places_of(s.row_length, {usual_height, sorting_windows[k]}); };
  s.slice_places.fill(-1);
  s.slice_places[0] = count(0);
  if (hardly_padded(s.slice_places[0], s.nnz)) return;
  for (std::size_t k = 1; k < sorting_windows.size(); ++k) s.slice_places[k] = count(k);
}

} // namespace

void describe_lengths(std::vector<index_t> count, stats& s) {
  const double rows = double(s.shape.rows);
  double squares = 0;
  for (std::size_t l = 0; l < count.size(); ++l) {
    squares += double(l) * double(l) * double(count[l]);
    s.row_histogram[std::bit_width(l)] += count[l];
  }
  const auto shortest = std::ranges::find_if(count, [](index_t n) { return n > 0; });
  s.row_min = shortest == count.end() ? 0 : shortest - count.begin();
  s.row_max = count.empty() ? 0 : std::ssize(count) - 1;
  s.empty_rows = s.row_histogram[0];
  if (s.shape.rows > 0) {
    s.row_mean = double(s.nnz) / rows;
    s.row_deviation = std::sqrt(std::max(0.0, squares / rows - s.row_mean * s.row_mean));
  }
  for (std::size_t l = count.size(); l-- > 1;) count[l - 1] += count[l];
  s.rows_reaching = std::move(count);
}

void count_lengths(stats& s) {
  const index_t rows = s.shape.rows, parts = (rows + (1 << 16) - 1) / (1 << 16);
  struct lengths {
    std::vector<index_t> count;
    std::uint64_t fingerprint = 0;
  };
  std::vector<lengths> found(static_cast<std::size_t>(parts));
  cpu::for_each_task(parts, [&](index_t part) {
    lengths l;
    for (index_t row = cpu::part_begin(rows, parts, part); row < cpu::part_begin(rows, parts, part + 1); ++row) {
      const auto length = static_cast<std::size_t>(s.row_length[row]);
      if (length >= l.count.size()) l.count.resize(length + 1);
      ++l.count[length];
      l.fingerprint += fingerprint_of_length(row, s.row_length[row]);
    }
    found[static_cast<std::size_t>(part)] = std::move(l);
  });
  std::vector<index_t> count;
  for (const lengths& l : found) {
    if (l.count.size() > count.size()) count.resize(l.count.size());
    for (std::size_t k = 0; k < l.count.size(); ++k) count[k] += l.count[k];
    s.lengths_fingerprint += l.fingerprint;
  }
  describe_lengths(std::move(count), s);
}

void measure_slices(stats& s) {
  count_slices(s);
  s.mispredicted_lengths = mispredicted_lengths(s.shape.rows, [&](index_t row) { return s.row_length[row]; });
}

void measure_lengths(stats& s) {
  count_lengths(s);
  measure_slices(s);
}

} // namespace furrow
