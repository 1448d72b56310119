// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/error.hpp>
#include <furrow/solve.hpp>
#include <furrow/sparse.hpp>

#include <optional>
#include <span>
#include <vector>

namespace furrow {

/// One of many systems A x = b, in arrays of the caller. Systems of one pattern may share `row_ptr` and `col`.
template <class V, class I> struct batch_system {
  csr_arrays<V, I> a;
  cview<V> b; ///< an element a row, host memory
  view<V> x;  ///< one a column: the first guess on entry, the answer on return
};

/// How one of them ended.
struct batch_outcome {
  solve_report report;
  std::optional<error> refused{}; ///< what `solve` would have thrown: the report says nothing then, and x is as it came
};

/// Solves many systems, each as `solve` does by itself: with the same bits, a verdict and a report of its own. On the
/// CPU systems of up to `side_by_side` rows and entries are solved at the same time, each by one thread: no thread
/// waits for another inside a system that is too small to share. Larger ones follow, one after the other, each by all
/// threads. On a GPU one follows the other. A system that is refused does not keep the others from their answers.
///
/// options: of every system, but `time_limit`, which is for all of them together: those that it leaves no time end as
/// `max_iterations` after no step. `watch`, `monitor`, `cancelled` and `announce` are called for each system, on
/// whatever thread, one call at a time; once `watch` or `monitor` has said stop or `cancelled` yes, what still runs
/// ends as `interrupted`, and what has not begun does not begin. `coordinates` belong to one matrix and are refused.
///
/// No two x may share memory, nor may an x and a b. Memory: that of `solve` for as many systems as there are threads.
/// Throws `fault::usage` for options that make no sense.
template <class V, class I>
std::vector<batch_outcome> solve_batch(std::span<const batch_system<V, I>> systems, const solve_options& options = {});

} // namespace furrow
