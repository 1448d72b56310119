// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "candidate.hpp"

#include "solvers/cg/ritz.hpp"

namespace furrow::small_systems {

/// What the host has seen of a system so far.
struct course {
  std::vector<double> history, history_seconds;
  ritz_matrix ritz;
  index_t launches = 0;

  /// Takes up what a launch that ended at `seconds`, and began at `before`, has recorded: `records` of this system are
  /// `stride` apart.
  void follow(const state& s, const record* records, index_t stride, double before, double seconds, bool keeps_history);
};

/// What stops those that have no answer yet.
enum class stopped_by : std::int32_t { nobody, watcher, clock };

/// The report of a solve by itself for a system that is done. Seconds are left to the caller.
template <class V>
solve_report report_of(const candidate<V>& c, const state& s, course&& seen, stopped_by who, const solve_options& o);

/// The same where b is zero.
template <class V> solve_report report_of_zero(const candidate<V>& c, const solve_options& o);

/// Whether a solve by itself would end here, too, and not go on with another method.
template <class V> bool is_final(const candidate<V>& c, const state& s, const solve_options& o);

} // namespace furrow::small_systems
