// SPDX-License-Identifier: BSD-3-Clause
#include "colouring.hpp"

#include <algorithm>
#include <vector>

namespace furrow {

colouring colour_greedily(const adjacency& g) {
  const index_t n = g.row_ptr.size() - 1;
  colouring c{host_array<std::int32_t>(n), 0};
  std::vector<index_t> taken_by; // of each colour: the last row that has a neighbour of it
  for (index_t i = 0; i < n; ++i) {
    for (index_t k = g.row_ptr[i]; k < g.row_ptr[i + 1] && g.col[k] < i; ++k) taken_by[c.colour[g.col[k]]] = i;
    const auto free = std::ranges::find_if(taken_by, [i](index_t row) { return row != i; });
    c.colour[i] = static_cast<std::int32_t>(free - taken_by.begin());
    if (free == taken_by.end()) taken_by.push_back(-1);
  }
  c.colours = static_cast<index_t>(taken_by.size());
  return c;
}

host_array<std::int32_t> order_by_colours(const colouring& c) {
  std::vector<index_t> next(static_cast<std::size_t>(c.colours) + 1, 0);
  for (const std::int32_t colour : c.colour) ++next[static_cast<std::size_t>(colour) + 1];
  for (std::size_t k = 1; k < next.size(); ++k) next[k] += next[k - 1];
  host_array<std::int32_t> order(c.colour.size());
  for (index_t i = 0; i < order.size(); ++i) order[next[c.colour[i]]++] = static_cast<std::int32_t>(i);
  return order;
}

} // namespace furrow
