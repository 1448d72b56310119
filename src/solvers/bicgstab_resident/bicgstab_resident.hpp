// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/cg_resident/plan.hpp"
#include "solvers/entry.hpp"

namespace furrow::resident::stabilised {

inline constexpr names bicgstab_names{"bicgstab_resident", "bicgstab"};
/// x, r, r~, p, v, t and M; r, p, v, t and M of the halo, t in registers where there are others.
inline constexpr vectors_kept layout{7, 5, 0, 4};

/// Lays A out for the chip of that GPU, the current one. Throws `fault::memory` where it does not fit there.
template <class V> std::unique_ptr<solver_keeps> keep_on_chip(const coo<V>& a, device where);

/// BiCGStab in one kernel for many steps: x, r, p, r~ and where it can A stay in the shared memory of the
/// multiprocessors. `system.kept` is what `keep_on_chip` made; M is the identity or a diagonal.
///
/// The steps are those of `stabilised_bicg`, whose judge, verdicts, restarts and estimates it has; sums have another
/// order, and r~'r is put together from r~'s and r~'t. Between steps elements of v and of t pass from block to block,
/// and seven sums (`steps_kernel`). Cost of a step: two ways through the second cache, whatever the size. Memory:
/// beside bicgstab's, A by rows with columns of 2 bytes, and two words of 8 or 16 bytes a row. The same bits on every
/// run with the same build and device.
template <class V> solve_report run(const linear_system<V>& system, const solve_options& options);

} // namespace furrow::resident::stabilised
