// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "preconditioners/entry.hpp"

namespace furrow {

/// Throws `fault::usage` where coordinates are given to a preconditioner that makes no use of them, and `fault::input`
/// where they say no place.
void check_coordinates(const solve_options& o);
/// Throws `fault::input` unless they are those of the nodes of A, and not all of them the same.
void check_coordinates(const solve_options& o, shape2 a);

/// What a solver needs, and what is known of A.
inline solver_needs with_coordinates(solver_needs needs, const solve_options& o) {
  needs.coordinates = o.coordinates.get();
  return needs;
}

/// What the preconditioner takes, with the vectors that are made of coordinates: as given, over aggregates, and theirs.
preconditioner_layout lay_out_preconditioner(std::string_view name, const stats& s, precision p,
                                             const solve_options& o);

} // namespace furrow
