// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/entry.hpp"

#include <furrow/solve.hpp>

namespace furrow {

/// What the iteration cannot see where a square system was not solved: rows of A without an entry beside an element of
/// b that is not 0, which bound every residual from below (`singular`), and values of A whose squares leave the range
/// of V. The sentence of such a report says so in place of what the iteration made of it. b: wherever it lies, on
/// ranks the part of each, which all call it. Costs, where a solve failed alone, a pass over triplets, for which there
/// must be room, and waits.
template <class V>
void find_the_cause(solve_report& report, const linear_system<V>& system, cview<V> b, const solve_options& o);

} // namespace furrow
