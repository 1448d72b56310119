// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/formats.hpp>

#include <array>
#include <string_view>

/// How rows are put into slices: pure functions of the row lengths, the same for a plan and for the matrix made by it.
namespace furrow {

/// `height` rows make a slice, as wide as its longest row. Rows are sorted by length, longest first, inside windows of
/// `window` rows, so that rows of a slice are alike and still neighbours; window 1 leaves them where they are.
struct slicing {
  index_t height = 32, window = 1;
  friend bool operator==(slicing, slicing) = default;
};

/// A warp on the GPU; four vectors of doubles, whose additions overlap, on the CPU.
inline constexpr index_t usual_height = 32;
/// A product with more than this many places an entry is refused, above a million places.
inline constexpr double most_padding = 10;

/// Sum of height x width over all slices: the places that the rows take, padding included.
index_t places_of(const host_array<std::int32_t>& length, slicing s);

/// The same for each of `sorting_windows`. Parallel; two passes.
using window_places = std::array<index_t, sorting_windows.size()>;
/// -1 for all but the first where rows as they lie are hardly padded.
window_places places_of_windows(const host_array<std::int32_t>& length, index_t nnz, index_t height);

/// The window for these rows: 1 where it pads by less than 3 %, otherwise the smallest of 256, 1024, 4096 and 16384
/// that takes at most 2 % more bytes than the best of them. A place takes `place_bytes`, a sorted row 4 more, and 48
/// where threads that share a window would share lines of y.
slicing best_slicing(const host_array<std::int32_t>& length, index_t height, double place_bytes);

/// The same of a matrix whose lengths are measured. Where they are not in host memory, slices of another height than
/// the usual one and windows that `stats` does not count have at most so many places.
index_t places_of(const stats& s, slicing how);
slicing best_slicing(const stats& s, index_t height, double place_bytes);
/// The places themselves where `stats` counts them, otherwise -1.
index_t counted_places(const stats& s, slicing how);

/// Row at each position after sorting, stable; empty for window 1. Parallel.
host_array<std::int32_t> sorted_rows(const host_array<std::int32_t>& length, slicing s);

/// Entries of each row, from their offsets.
host_array<std::int32_t> lengths_of(const host_array<index_t>& row_ptr);

/// slice_ptr[s] <- places before slice s, for rows in the order of `sorted_rows`. Parallel.
host_array<index_t> offsets_of_slices(const host_array<std::int32_t>& length, const host_array<std::int32_t>& order,
                                      index_t height);

/// Slices and places of a matrix that is known by its stats, and why it is refused.
struct slice_plan {
  slicing how;
  double slices = 0, places = 0;
  std::string refusal{};
};
/// Rows of unknown lengths all count as having the mean length. window 0: the best one.
slice_plan plan_slices(const stats& s, std::string_view format, index_t height, index_t window, double place_bytes);

} // namespace furrow
