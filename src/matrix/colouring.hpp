// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "cuthill_mckee.hpp"

namespace furrow {

/// Rows without an entry of A + A' between them have one colour, and may be taken at the same time.
struct colouring {
  host_array<std::int32_t> colour; ///< of each row, from 0 on
  index_t colours = 0;
};

/// Greedy: each row, by number, takes the least colour that none of its neighbours has. At most one more colour than
/// the row of most neighbours has; two on grids of 5 or 7 points. Serial, the same colours on every run; reads g once.
/// M. T. Jones, P. E. Plassmann, Scalable iterative solution of sparse linear systems, 1994, for what colours are for.
colouring colour_greedily(const adjacency& g);

/// The row that comes k-th where rows go by colours, and by number within one.
host_array<std::int32_t> order_by_colours(const colouring& c);

} // namespace furrow
