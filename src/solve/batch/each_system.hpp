// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/batch.hpp>

#include <functional>

namespace furrow {

/// Rows and entries of a system, together, up to which one thread solves it. Twice as many are some hundred
/// microseconds of a product: enough for several threads to share.
inline constexpr index_t side_by_side = 100'000;

/// Systems of a batch, by their numbers in [0, count).
template <class V> struct system_source {
  index_t count = 0;
  std::function<index_t(index_t k)> size; ///< rows and entries
  /// By itself. What it throws as `error`, or for want of memory, is the outcome's `refused`.
  std::function<solve_report(index_t k, const solve_options& options)> solve;
  /// The same matrix, for a launch with others; `solve` may come after it. Throws as `to_coo`. From any thread.
  std::function<coo<V>(index_t k)> triplets;
  std::function<cview<V>(index_t k)> b;
  std::function<view<V>(index_t k)> x; ///< in host memory, as b
};

/// Solves each system as `solve_batch` says.
template <class V>
std::vector<batch_outcome> for_each_system(const system_source<V>& systems, const solve_options& options);

} // namespace furrow
