// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/stats.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

/// The rows that statistics look at where they do not look at all of them.
namespace furrow {

struct row_range {
  index_t first, count;
};

/// A place in [0, places) that follows from k: Fibonacci hashing.
FURROW_HD constexpr index_t scattered(index_t k, index_t places) {
  const auto hash = static_cast<std::uint32_t>(k) * 0x9e3779b9u;
  return static_cast<index_t>(static_cast<std::uint64_t>(hash) * static_cast<std::uint64_t>(places) >> 32);
}

/// `count` of the `of` pieces of `height` rows that a matrix has, one in each of as many equal parts, at a place that
/// does not repeat with the part as lines of a grid do; its last piece may be shorter.
struct spread_rows {
  index_t rows, height, of, count;
  /// The first piece of the k-th part.
  FURROW_HD index_t part(index_t k) const {
    const index_t extra = of % count;
    return of / count * k + (k < extra ? k : extra);
  }
  FURROW_HD row_range operator[](index_t k) const {
    const index_t first = (part(k) + scattered(k, part(k + 1) - part(k))) * height, left = rows - first;
    return {first, left > height ? height : left > 0 ? left : 0};
  }
};
inline std::vector<row_range> ranges_of(const spread_rows& s) {
  std::vector<row_range> all;
  for (index_t k = 0; k < s.count; ++k) all.push_back(s[k]);
  return all;
}

/// How many rows a statistic looks at: `most` at most, and no more than have about `entries` together, but `least` of
/// them.
inline constexpr index_t sampled_entries = index_t(1) << 15;
inline index_t sampled_rows(const stats& s, index_t least, index_t most, index_t entries = sampled_entries) {
  const index_t mean = std::max<index_t>(1, s.nnz / std::max<index_t>(s.shape.rows, 1));
  return std::clamp(entries / mean, least, most);
}

/// The rows that statistics look at which are no format's own.
spread_rows windows_of_locality(const stats& s);

/// Sixteen stretches of block rows, together a 128th of the matrix, and at most 2048.
struct sampled_block_rows {
  static constexpr index_t stretches = 16, most = 128;
  index_t block_rows;
  FURROW_HD index_t length() const {
    const index_t share = block_rows / (128 * stretches);
    return (share < most - 1 ? share : most - 1) + 1;
  }
  FURROW_HD row_range operator[](index_t k) const {
    const index_t first = spread_rows{block_rows, 1, block_rows, stretches}.part(k), left = block_rows - first;
    return {first, left < length() ? left : length()};
  }
};

std::vector<row_range> rows_of_block_sample(index_t rows);

/// Those and the rows of all formats that look for themselves (core/look.hpp), ascending, none twice, and neighbours as
/// one, of a matrix whose lengths are measured.
std::vector<row_range> rows_of_statistics(const stats& s);
/// Those of them whose values matter.
std::vector<row_range> rows_of_values(const stats& s);

/// What samples tell, but for blocks, where the lengths are measured. Of triplets that hold the rows of
/// `rows_of_statistics` alone it tells what the whole matrix tells: the others are never looked at.
template <class Triplets> void measure_samples(const Triplets& a, stats& s);

} // namespace furrow
