// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/batch.hpp>

#include <functional>

namespace furrow {

/// Rows and entries of a system, together, up to which one thread solves it. Twice as many are some hundred
/// microseconds of a product: enough for several threads to share.
inline constexpr index_t side_by_side = 100'000;

/// Calls solve(k, options) for each system k in [0, count), as `solve_batch` says; `size(k)` are its rows and entries.
/// What solve(k) throws as `error`, or for want of memory, is the outcome's `refused`.
std::vector<batch_outcome> for_each_system(index_t count, const solve_options& options,
                                           const std::function<index_t(index_t)>& size,
                                           const std::function<solve_report(index_t, const solve_options&)>& solve);

} // namespace furrow
