// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "parts.hpp"

#include <furrow/coo.hpp>

#include <utility>

namespace furrow {

/// Where the part of each rank begins in the whole, and the end.
inline std::vector<index_t> begins_of_parts(communicator& c, index_t mine) {
  std::vector<index_t> begins{0};
  for (const index_t n : gather_each(c, mine)) begins.push_back(begins.back() + n);
  return begins;
}

/// Rows of all ranks, numbered from 0 on by each, on rank 0 as one matrix; nothing on the others. `make(n)`: on rank 0,
/// room for n entries. What a rank has sent is the caller's to let go.
template <class V> coo<V> gather_rows(communicator& c, const coo<V>& rows, coo<V> room) {
  const std::vector<index_t> begins = begins_of_parts(c, rows.shape.rows), entries = begins_of_parts(c, rows.nnz());
  gather(c, as_cview(rows.row), as_view(room.row), entries);
  gather(c, as_cview(rows.col), as_view(room.col), entries);
  gather(c, as_cview(rows.val), as_view(room.val), entries);
  if (c.rank() != 0) return room;
  room.shape = {begins.back(), rows.shape.cols};
  for (std::size_t r = 1; r + 1 < begins.size(); ++r)
    for (index_t k = entries[r]; k < entries[r + 1]; ++k) room.row[k] += static_cast<std::int32_t>(begins[r]);
  return room;
}

} // namespace furrow
