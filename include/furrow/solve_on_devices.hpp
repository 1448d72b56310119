// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/ranks.hpp>
#include <furrow/sparse.hpp>

#include <vector>

namespace furrow {

/// A x = b on ranks that are threads of this process, a device each: `run_ranks` with a `solver_on_ranks`, for rows in
/// host memory that each rank reads where the caller has them, and for whole b and x. x: the first guess on entry, the
/// answer on return.
///
/// Rows are cut as `solve_from_first` cuts, whose bits x has where each row is sorted and no place comes twice; other
/// rows are put in order by the rank that has them. Rank 0 is the calling thread: watchers, monitors and `cancelled`
/// are called there. The matrix is copied once, by all ranks together: 8 bytes and a value an entry. Throws as
/// `to_coo`, whose sentences are about the whole matrix, as `solver_on_ranks` and `run_ranks`; `fault::usage` for b
/// and x that do not fit.
template <class V, class I>
ranks_report solve_on_devices(const std::vector<device>& on, const csr_arrays<V, I>& a, cview<V> b, view<V> x,
                              const solve_options& options);

} // namespace furrow
