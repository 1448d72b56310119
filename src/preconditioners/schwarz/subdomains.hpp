// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/cuthill_mckee.hpp"

#include <vector>

namespace furrow::schwarz_preconditioner {

/// Overlapping parts of the rows of a matrix. Rows are numbered as they come in `order`.
struct subdomains {
  host_array<std::int32_t> order; ///< the row of A that comes k-th
  struct part {
    index_t first, last;            ///< the rows that it owns
    std::vector<std::int32_t> rows; ///< those and the overlap, ascending
  };
  std::vector<part> parts;
};

/// `count` pieces of equal length of the rows in reverse Cuthill and McKee's order, each widened `overlap` times by the
/// neighbours of its rows. Depends on nothing but the pattern and the two numbers.
/// Hears `stops_set_up`. Throws `fault::usage` where the parts have 2^31 rows together, whose numbers would not fit.
subdomains cut(const adjacency& g, index_t count, index_t overlap);

} // namespace furrow::schwarz_preconditioner
