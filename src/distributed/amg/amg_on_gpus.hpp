// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "amg_on_ranks.hpp"

#include "distributed/gpu/rank_device.hpp"
#include "distributed/halo.hpp"
#include "matrix/rows_on_gpu.hpp"

#include <vector>

namespace furrow {

/// The rows of a rank that has a GPU.
template <class V> struct rows_of_gpu {
  std::vector<index_t> begins; ///< of all ranks
  rows_on_gpu<V> own;          ///< between its rows and its own elements; without memory where it has no rows
  coo<V> far;                  ///< in host memory: rows that have entries in columns of others x those of the plan
  host_array<std::int32_t> far_rows; ///< which these are
  halo_plan plan;
};

/// `amg_on_ranks` for ranks that have a GPU each: the same levels, up to the rounding of the bound of the spectrum. Set
/// up on the GPUs, where a rank takes some 70 bytes an entry of its rows while it works; through the hosts go numbers
/// of aggregates, rows of P and of P'A P at the border of a rank, and the gathered level. A cycle is on the GPUs alone,
/// and can be recorded where what they talk through can: a product writes what neighbours need and tells them, takes
/// the step of the smoother with the rank's own columns, waits, and adds to it what those of others do. Each rank has
/// the gathered levels. The same bits on every run with a number of ranks. All ranks call it, and `apply` too; `gpu`
/// must outlive it. Throws as `amg_on_ranks`. In a build without a GPU part throws `fault::device`.
template <class V>
std::unique_ptr<any_preconditioner<V>> amg_on_gpus(communicator& c, rank_device& gpu, rows_of_gpu<V> rows, int degree,
                                                   index_t gathered = most_gathered_rows);

} // namespace furrow
