// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>
#include <furrow/coo.hpp>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace furrow {

/// Sectors of x, four consecutive elements each (32 bytes in double), that a group of entries touches, divided by the
/// number of entries: 1 where every entry needs a sector of its own. From a sample of the rows.
struct locality {
  static constexpr int elements = 4;
  double by_row = 1;    ///< the entries of a row: what lanes read that share a row
  double by_slice = 1;  ///< the k-th entries of 32 consecutive rows: what lanes read that have a row each
  double by_window = 1; ///< the entries of 1024 consecutive rows: what a cache of a core cannot save
};

/// Windows inside which sliced formats sort rows by their lengths; 1 leaves them in place.
inline constexpr std::array<index_t, 5> sorting_windows{1, 256, 1024, 4096, 16384};

/// What a format found out about a matrix for its own estimates: numbers that only that format reads.
using estimate_numbers = std::array<double, 6>;
struct format_estimate {
  std::string_view format;
  estimate_numbers number{};
};

/// What one pass over a matrix tells: the input of every cost model and of `furrow info`.
struct stats {
  shape2 shape;
  index_t nnz = 0;
  index_t row_min = 0, row_max = 0;       ///< shortest and longest row
  double row_mean = 0, row_deviation = 0; ///< of the row lengths
  double mispredicted_lengths =
      0; ///< share of rows whose length a branch predictor does not foresee; 0 below 16384 rows
  index_t empty_rows = 0;
  /// Entries of each row; empty where only the sizes are known, and of a matrix that was looked at on a GPU: there the
  /// three that follow are what came back.
  host_array<std::int32_t> row_length;
  std::vector<index_t> rows_reaching;    ///< [k]: rows of k or more entries, up to the longest row
  std::uint64_t lengths_fingerprint = 0; ///< the same for the same lengths in the same order
  /// Places, padding included, of slices of 32 rows, each as wide as its longest row, sorted by length inside each of
  /// `sorting_windows`. -1: not counted, because rows as they lie take at most 3 % more places than entries.
  std::array<index_t, sorting_windows.size()> slice_places{};
  std::array<index_t, 33> row_histogram{}; ///< [0]: empty rows; [k]: rows of 2^(k-1) to 2^k - 1 entries
  index_t lower_bandwidth = 0;             ///< max(row - col), 0 if none
  index_t upper_bandwidth = 0;             ///< max(col - row), 0 if none
  index_t diagonals = 0;                   ///< distinct values of col - row
  index_t zero_diagonal = 0;               ///< i < min(rows, cols) where A[i,i] is absent or 0
  index_t explicit_zeros = 0;
  double norm_inf = 0;           ///< largest row sum of |A[i,j]|
  double largest = 0;            ///< largest |A[i,j]|
  bool finite = true;            ///< no NaN and no infinity among the values
  index_t distinct_values = 257; ///< told apart by their bits; 257: more than 256, or not known
  locality near{};
  /// [K]: aligned K x K blocks with entries, for K from 2 to 8. Not counted, by a sample of the rows of a large
  /// matrix: -1 where they have more than 1.75 places an entry, -2 where those of another K take far fewer bytes.
  std::array<index_t, 9> blocks{};
  std::vector<format_estimate> estimates; ///< of the formats that look for themselves, by their names

  /// Whether more than the sizes is known.
  bool lengths_known() const { return !rows_reaching.empty() || nnz == 0; }
};

/// Parallel: passes over `a`, one more over its columns where blocks of some K are counted, and samples. The same
/// numbers for every number of threads. Throws as `check_triplets`.
template <class V> stats measure(const coo<V>& a);

} // namespace furrow
