// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "load/tell.hpp"
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

/// Rows of all ranks, numbered from 0 on by each, on rank 0 as one matrix; nothing on the others. Room is made for what
/// the ranks send, which may be less than the matrix had entries: some formats leave stored zeros out. Throws
/// `fault::memory`, on all, where rank 0 has no room. What a rank has sent is the caller's to let go.
template <class V> coo<V> gather_rows(communicator& c, const coo<V>& rows) {
  const std::vector<index_t> begins = begins_of_parts(c, rows.shape.rows), entries = begins_of_parts(c, rows.nnz());
  const index_t n = entries.back();
  coo<V> all;
  alike(c, [&] {
    if (c.rank() == 0) all = {{}, host_array<std::int32_t>(n), host_array<std::int32_t>(n), host_array<V>(n)};
  });
  gather(c, as_cview(rows.row), as_view(all.row), entries);
  gather(c, as_cview(rows.col), as_view(all.col), entries);
  gather(c, as_cview(rows.val), as_view(all.val), entries);
  if (c.rank() != 0) return all;
  all.shape = {begins.back(), rows.shape.cols};
  for (std::size_t r = 1; r + 1 < begins.size(); ++r)
    for (index_t k = entries[r]; k < entries[r + 1]; ++k) all.row[k] += static_cast<std::int32_t>(begins[r]);
  return all;
}

} // namespace furrow
