// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <fmt/format.h>

#include <atomic>
#include <string>

/// What the triplets of a caller may break.
namespace furrow {

/// The first promise of furrow/coo.hpp that is broken, as a sentence, or nothing. Parallel, one pass over the indices.
std::string broken_promise(shape2 shape, cview<std::int32_t> row, cview<std::int32_t> col, index_t values);

/// The same for the sides of the matrix alone, and for these and the lengths of the arrays.
std::string wrong_sides(shape2 shape);
std::string wrong_sizes(shape2 shape, index_t rows, index_t cols, index_t values);

/// The sentence for a triplet that is not in the matrix.
template <class R, class C> std::string outside(index_t k, R row, C col, shape2 shape) {
  return fmt::format("triplet {} is ({}, {}) in a matrix of {} x {}: indices count from 0", k, row, col, shape.rows,
                     shape.cols);
}

inline bool is_inside(std::int32_t row, std::int32_t col, shape2 shape) {
  return static_cast<std::uint32_t>(row) < static_cast<std::uint32_t>(shape.rows) &&
         static_cast<std::uint32_t>(col) < static_cast<std::uint32_t>(shape.cols);
}

/// value <- min(value, k), from any thread.
inline void lower(std::atomic<index_t>& value, index_t k) {
  index_t seen = value.load();
  while (k < seen && !value.compare_exchange_weak(seen, k)) {
  }
}

} // namespace furrow
