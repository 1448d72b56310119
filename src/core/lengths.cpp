// SPDX-License-Identifier: BSD-3-Clause
#include "measure.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"
#include "core/mispredicted_lengths.hpp"
#include "formats/sell/slicing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

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

namespace {

/// How many of some rows have which length.
struct lengths {
  static constexpr std::int32_t longer_from = 256; ///< there are few such rows
  std::array<std::int32_t, longer_from> count{};
  std::vector<std::int32_t> longer;
  std::uint64_t fingerprint = 0;
};

lengths lengths_of_rows(const std::int32_t* length, index_t first, index_t last) {
  constexpr int lanes = 4; // a row as long as the one before would wait for the counter of both
  std::array<std::array<std::int32_t, lengths::longer_from>, lanes> count{};
  lengths l;
  cpu::widest([&]() FURROW_INLINE {
    std::uint64_t sum = 0;
    for (index_t row = first; row < last; ++row) sum += fingerprint_of_length(row, length[row]);
    l.fingerprint = sum;
  });
  for (index_t row = first; row < last; row += lanes)
    for (index_t k = 0; k < std::min<index_t>(lanes, last - row); ++k) {
      const std::int32_t one = length[row + k];
      if (one < lengths::longer_from) ++count[k][one];
      else l.longer.push_back(one);
    }
  for (std::size_t k = 0; k < l.count.size(); ++k) l.count[k] = count[0][k] + count[1][k] + count[2][k] + count[3][k];
  return l;
}

} // namespace

void count_lengths(stats& s) {
  const index_t rows = s.shape.rows, parts = (rows + (1 << 13) - 1) / (1 << 13);
  std::vector<lengths> found(static_cast<std::size_t>(parts));
  cpu::for_each_task(parts, [&](index_t part) {
    found[static_cast<std::size_t>(part)] = lengths_of_rows(s.row_length.data(), cpu::part_begin(rows, parts, part),
                                                            cpu::part_begin(rows, parts, part + 1));
  });
  std::vector<index_t> count(lengths::longer_from), longer;
  for (const lengths& l : found) {
    for (std::size_t k = 0; k < l.count.size(); ++k) count[k] += l.count[k];
    longer.insert(longer.end(), l.longer.begin(), l.longer.end());
    s.lengths_fingerprint += l.fingerprint;
  }
  std::ranges::sort(longer);
  std::vector<length_count> occurring;
  for (index_t l = 0; l < std::ssize(count); ++l)
    if (count[static_cast<std::size_t>(l)] > 0) occurring.push_back({l, count[static_cast<std::size_t>(l)]});
  for (const index_t l : longer)
    if (!occurring.empty() && occurring.back().length == l) ++occurring.back().count;
    else occurring.push_back({l, 1});
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
