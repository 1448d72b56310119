// SPDX-License-Identifier: BSD-3-Clause
#include "measure.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/mispredicted_lengths.hpp"
#include "formats/sell/slicing.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace furrow {
void describe_lengths(std::span<const length_count> found, stats& s) {
  const double rows = double(s.shape.rows);
  double squares = 0;
  for (const auto [length, count] : found) {
    squares += double(length) * double(length) * double(count);
    s.row_histogram[std::bit_width(static_cast<std::size_t>(length))] += count;
  }
  s.row_min = found.empty() ? 0 : found.front().length;
  s.row_max = found.empty() ? 0 : found.back().length;
  s.empty_rows = s.row_histogram[0];
  if (s.shape.rows > 0) {
    s.row_mean = double(s.nnz) / rows;
    s.row_deviation = std::sqrt(std::max(0.0, squares / rows - s.row_mean * s.row_mean));
  }
  s.rows_reaching.clear();
  s.rows_reaching.reserve(found.empty() ? 0 : static_cast<std::size_t>(s.row_max) + 1);
  index_t reaching = s.shape.rows;
  for (const auto [length, count] : found) {
    s.rows_reaching.resize(static_cast<std::size_t>(length) + 1, reaching);
    reaching -= count;
  }
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
  std::vector<length_count> occurring;
  for (index_t l = 0; l < std::ssize(count); ++l)
    if (count[static_cast<std::size_t>(l)] > 0) occurring.push_back({l, count[static_cast<std::size_t>(l)]});
  describe_lengths(occurring, s);
}

void measure_slices(stats& s) {
  s.slice_places = places_of_windows(s.row_length, s.nnz, usual_height);
  s.mispredicted_lengths = mispredicted_lengths(s.shape.rows, [&](index_t row) { return s.row_length[row]; });
}

void measure_lengths(stats& s) {
  count_lengths(s);
  measure_slices(s);
}

} // namespace furrow
