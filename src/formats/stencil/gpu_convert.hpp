// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "stencil.hpp"

#include "matrix/rows_on_gpu.hpp"
#include "planes.hpp"
#include "stencils.hpp"

#include <optional>

/// Rows that lie on a GPU, told apart there by their stencils: the table and the numbers of `plan_stencils`.
namespace furrow {

struct gpu_stencil_plan {
  gpu_array<std::uint64_t> hash;   ///< of each row
  std::vector<seen_stencil> table; ///< in the order of their numbers
  bool fits_bytes() const { return index_t(table.size()) <= short_stencil_numbers; }
};

/// A pass over the entries; the most frequent stencils come to the host, which chooses among them. Nothing where a
/// matrix has more than some millions of different ones. Waits.
template <class V> std::optional<gpu_stencil_plan> plan_stencils(const rows_on_gpu<V>& a);

/// As planned, a pass over the entries: each row is compared with its stencil, so that one whose hash alone is that of
/// a stencil lies beside the table. Waits. The table comes to the host, too, where it is asked for.
template <class N, class V>
stencil<V, N, gpu_array> to_stencil(const rows_on_gpu<V>& a, const gpu_stencil_plan& plan,
                                    host_stencil_table<V>* table = nullptr);

} // namespace furrow
