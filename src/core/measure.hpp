// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/stats.hpp>

#include <optional>
#include <span>

namespace furrow {

/// The part of `measure` that says what a matrix is, a `coo` or a `borrowed_coo` that is known to keep its promises:
/// one pass. Places in slices, blocks, locality and what formats look for stay as of a matrix that nobody has looked
/// at.
template <class Triplets> stats measure_sums(const Triplets& a);
/// The same, or nothing where the triplets break a promise, which the pass looks for.
template <class Triplets> std::optional<stats> measure_sums_where_kept(const Triplets& a);
/// The same of triplets that may break promises. Throws as `check_triplets`.
template <class V> stats check_and_measure_sums(const coo<V>& a);
/// The rest, by which formats are chosen: half of the time of the whole.
template <class Triplets> void measure_for_formats(const Triplets& a, stats& s);

/// What follows from `s.row_length`, `s.shape` and `s.nnz` alone. Parallel.
void measure_lengths(stats& s);
/// The part of it that `measure_sums` finds, and the rest.
void count_lengths(stats& s);
void measure_slices(stats& s);

/// The part of it that follows from how many rows have how many entries: the lengths that occur, ascending.
struct length_count {
  index_t length, count;
};
void describe_lengths(std::span<const length_count> found, stats& s);

/// What a row adds to `lengths_fingerprint`: a sum, so that rows are taken in any order.
FURROW_HD inline std::uint64_t fingerprint_of_length(index_t row, index_t length) {
  std::uint64_t z = (static_cast<std::uint64_t>(row) << 32 ^ static_cast<std::uint64_t>(length)) + 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9; // as splitmix64 mixes
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/// Places of `nnz` entries in slices of rows as they lie that are as good as sorted ones: 3 % more.
inline bool hardly_padded(index_t places, index_t nnz) { return double(places) <= 1.03 * double(nnz); }

} // namespace furrow
