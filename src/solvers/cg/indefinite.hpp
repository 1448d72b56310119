// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "judge.hpp"
#include "solvers/iteration.hpp"

namespace furrow::cg_scalars {

/// Whether A is indefinite where p'A p is 0 within rounding, as `judge` has it: for a semidefinite A the square of q =
/// A p in the norm of M is at most p'A p times the largest eigenvalue of M A. `slots`: those of that step; writes
/// `spare`, another vector, and the slot `into`, and waits.
template <vector_space S, class V>
bool is_indefinite(S& space, const linear_system<V>& system, const judge& by, const double* slots, view<V> q,
                   view<V> spare, slot into) {
  const bool diagonal = system.m.what() == any_preconditioner<V>::kind::diagonal;
  if (diagonal) space.sweep(q.size, pass(multiply_by{}, out(spare), in(q), in(system.m.diagonal())));
  space.dot(q, diagonal ? spare : q, into);
  const double largest = diagonal ? double(system.longest_row) : system.norm_inf;
  return space.read(into) > largest * by.rounding * slots[by.stored ? pp : pm];
}

} // namespace furrow::cg_scalars
