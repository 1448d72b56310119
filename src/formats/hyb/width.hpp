// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "formats/padded.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

/// How many entries of each row hyb stores in ell. All from the lengths of the rows, before anything is made.
namespace furrow {

/// [k]: rows of k or more entries, for k from 0 to the longest row.
inline std::vector<index_t> rows_reaching(cview<std::int32_t> length) {
  std::vector<index_t> reaching{0};
  for (const std::int32_t n : length) {
    if (static_cast<std::size_t>(n) >= reaching.size()) reaching.resize(static_cast<std::size_t>(n) + 1, 0);
    ++reaching[n];
  }
  for (std::size_t k = reaching.size() - 1; k-- > 0;) reaching[k] += reaching[k + 1];
  return reaching;
}

/// The largest width that at least `least` rows fill; a search, for lists may be as long as a matrix is wide.
inline index_t width_filled_by(const std::vector<index_t>& reaching, double least) {
  const auto end = std::ranges::partition_point(reaching, [&](index_t rows) { return double(rows) >= least; });
  return std::max<index_t>(end - reaching.begin(), 1) - 1;
}

/// The rule of the paper: filled by a third of the rows, and by 4096 of them, so that ell has enough rows to work on.
/// A matrix of fewer rows than that cannot keep a device busy either way: there a third of its rows decides.
inline index_t width_of_bell_garland(const std::vector<index_t>& reaching) {
  const double third = double(reaching[0]) / 3;
  return width_filled_by(reaching, reaching[0] < 4096 ? third : std::max(third, 4096.0));
}

/// Bytes that a product moves, where those of an entry in triplets count `triplet_charge` times: it also reads and
/// writes y, and its kernel is slower. A column of ell pays while the entries in it would cost more as triplets.
inline constexpr double triplet_charge = 2;
inline index_t width_of_fewest_bytes(const std::vector<index_t>& reaching, double bytes_of_value) {
  const double column = double(padded_rows(reaching[0])) * (4 + bytes_of_value);
  return width_filled_by(reaching, column / (triplet_charge * (8 + bytes_of_value)));
}

/// Entries up to `width`.
inline index_t entries_within(const std::vector<index_t>& reaching, index_t width) {
  return std::accumulate(reaching.begin() + 1, reaching.begin() + 1 + width, index_t(0));
}
/// Entries beyond `width`.
inline index_t entries_beyond(const std::vector<index_t>& reaching, index_t width) {
  return std::accumulate(reaching.begin() + 1 + width, reaching.end(), index_t(0));
}

} // namespace furrow
