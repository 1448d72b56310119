// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace furrow::block_jacobi_preconditioner {

constexpr index_t most_rows = 64; ///< of a block

/// The rows of a matrix in blocks that follow each other: of one size but for the last, or of any sizes. Block b has
/// the rows [begin(b), end(b)), and its inverse the places from place(b) on.
class cut {
public:
  cut(index_t rows, index_t edge) : rows_(rows), edge_(edge) {}
  /// By the first row of each block and the number of rows.
  explicit cut(host_array<index_t> starts) : rows_(starts[starts.size() - 1]), starts_(std::move(starts)) {
    places_.resize(starts_.size());
    places_[0] = 0;
    for (index_t b = 0; b < count(); ++b) places_[b + 1] = places_[b] + size(b) * size(b);
  }

  bool given() const { return !starts_.empty(); }
  index_t rows() const { return rows_; }
  index_t edge() const { return edge_; } ///< of blocks that were not given
  index_t count() const { return given() ? starts_.size() - 1 : (rows_ + edge_ - 1) / edge_; }
  index_t begin(index_t b) const { return given() ? starts_[b] : b * edge_; }
  index_t end(index_t b) const { return given() ? starts_[b + 1] : std::min(rows_, (b + 1) * edge_); }
  index_t size(index_t b) const { return end(b) - begin(b); }
  index_t place(index_t b) const { return given() ? places_[b] : b * edge_ * edge_; }
  index_t places() const { return count() > 0 ? place(count() - 1) + size(count() - 1) * size(count() - 1) : 0; }
  double bytes() const { return double(starts_.byte_count() + places_.byte_count()); }

private:
  index_t rows_, edge_ = 0;
  host_array<index_t> starts_, places_; ///< empty for blocks of one size
};

/// What follows `starts=`: "0,3,7", or the name of a file with a number a line, as `read_vector` takes it. They are the
/// first rows of the blocks, counted from 0, ascending from 0; the number of rows may stand behind the last. Throws
/// `fault::input`, a sentence with the place of the number, unless they cut that many rows into blocks of at most
/// `most_rows`.
cut cut_by_starts(std::string_view given, index_t rows);

} // namespace furrow::block_jacobi_preconditioner
