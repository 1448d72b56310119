// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "columns.hpp"

#include <vector>

namespace furrow::lu {

/// The graph of A + A', whose vertices are columns, or blocks of columns that are alike: neighbours of each other with
/// the same other neighbours, as the unknowns of a node of finite elements are. They can stand side by side in any
/// order that keeps factors sparse, and an order of the blocks takes less time (C. Ashcraft, Compressed graphs and the
/// minimum degree algorithm, 1995).
struct column_graph {
  std::vector<std::int32_t> block_of;           ///< a column
  std::vector<std::int32_t> begins, neighbours; ///< of blocks, without themselves
  std::vector<std::int32_t> weights;            ///< columns of each

  index_t blocks() const { return index_t(weights.size()); }
  /// Whether blocks are so few that an order of them, and not of columns, saves more than it takes to find them.
  bool is_smaller() const { return 4 * blocks() <= 3 * index_t(block_of.size()); }
  /// Places of the columns, those of a block side by side, from places of the blocks.
  host_array<std::int32_t> places(const host_array<std::int32_t>& place_of_block) const;
  /// A matrix with that pattern.
  columns as_columns() const;
};

/// About three passes over the entries; 16 bytes for each.
column_graph graph_of(const columns& a);

} // namespace furrow::lu
