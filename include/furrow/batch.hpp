// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/error.hpp>
#include <furrow/solve.hpp>
#include <furrow/sparse.hpp>

#include <optional>
#include <span>
#include <string>
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
  /// How it was solved: "by one thread, beside others", "by all threads", "in one launch with others", or "by itself: "
  /// and why no launch took it; empty where it did not begin.
  std::string way{};
};

/// Solves many systems, each as `solve` does by itself: a verdict and a report of its own. On the CPU, and one by one
/// on a GPU, with the same bits. On the CPU systems of up to `side_by_side` rows and entries are solved at the same
/// time, each by one thread: no thread waits for another inside a system that is too small to share. Larger ones
/// follow, one after the other, each by all threads. A system that is refused does not keep the others from their
/// answers.
///
/// On a GPU many systems are solved in one launch, a block of threads each, where a solve by itself would begin with
/// `cg` or `bicgstab` and `jacobi` or `none`, the vectors fit the shared memory of a block (some 5,000 rows of cg in
/// f64), and no format, kernel, monitor or `watch_every` is named. Their steps, verdicts and x are then those of that
/// method but for the order of sums, with the same bits on every run and beside any other systems; what "auto" would go
/// on with another method for, and everything else, follows one by one. `way` says which. Seconds of a report are a
/// system's share of all of them.
///
/// options: of every system, but `time_limit`, which is for all of them together: those that it leaves no time end as
/// `max_iterations` after the first steps at most. `watch`, `monitor`, `cancelled` and `announce` are called for each
/// system, on whatever thread, one call at a time (of a launch `watch` sees one system, between launches); once `watch`
/// or `monitor` has said stop or `cancelled` yes, what still runs ends as `interrupted`, and what has not begun does
/// not begin. `coordinates` belong to one matrix and are refused.
///
/// No two x may share memory, nor may an x and a b; that no x is part of a matrix is yours to see to. Memory: that of
/// `solve` for as many systems as there are threads; of launches, groups of systems of up to 256 MB. Throws
/// `fault::usage` for options that make no sense, and for an x in memory of another vector.
template <class V, class I>
std::vector<batch_outcome> solve_batch(std::span<const batch_system<V, I>> systems, const solve_options& options = {});

} // namespace furrow
