// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "box_layout.hpp"
#include "matrix/rows.hpp"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace furrow::amg {

class box_matrix;

/// The box whose points the rows of a matrix are, or why there is none: the end of a sentence that begins with "the
/// matrix".
struct found_box {
  box points;
  std::vector<std::int32_t> offsets; ///< column minus row of its diagonals, ascending
  std::string failure;               ///< empty: found

  explicit operator bool() const { return failure.empty(); }
};

/// Whether a square matrix couples the points of a box with their neighbours: at most 27 diagonals, each with the
/// offset a s3 + b s2 + c, where a, b, c are -1, 0 or 1, s2 divides s3 and s3 divides the rows, and no non-zero entry
/// that would leave its line, or its plane. Along a direction that another one follows 3 points or more. Parallel; one
/// pass over the columns that ends early where there are more diagonals, one over the faces of the box.
found_box find_box(row_view<double> a);

/// The place with this offset; empty where there is none.
std::optional<int> place_of(index_t offset, const box& b);

/// The box of a matrix with these diagonals, at most 27. leaving(box): the first row with an entry other than 0 that
/// leaves the box, and its column; `rows` where there is none.
found_box box_of_offsets(index_t rows, std::vector<std::int32_t> offsets,
                         const std::function<std::pair<index_t, index_t>(const box&)>& leaving);
inline constexpr const char* too_many_diagonals = "has more than 27 diagonals"; ///< a failure

/// Where the matrix of a box that was found lies.
box_layout layout_of(const found_box& found);

/// The same matrix by the places of its stencil. Parallel, one pass.
box_matrix in_box(row_view<double> a, const found_box& found);

} // namespace furrow::amg
