// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "factors.hpp"
#include "matched.hpp"

#include <string>

namespace furrow::lu {

/// What is asked of factors by supernodes.
struct supernodal_wish {
  double operations = std::numeric_limits<double>::infinity(); ///< more are refused before anything is factored
  bool exact = true;                          ///< whether a pivot that would have to be made larger ends them
  const arranged_columns* arranged = nullptr; ///< what is factored in place of A, and solves with A; null: A
  const columns* pattern = nullptr; ///< a symmetric one that holds its own, and is factored; null: that and its mirror
};

/// P A Q = L U in the pattern of the Cholesky factor of A + A', whose rows stand in the order of its columns, which
/// keeps it sparse as `minimum_degree` has it: left-looking by supernodes, of which L and U' have a dense panel each,
/// with the products of panels that Cholesky's factor is made of; (c - 1)(2 c - 1) operations for each column with c
/// entries. Pivots are looked for among the rows of the supernode alone, so that the pattern tells all memory and all
/// operations; one that is less than 1.4e-14 of the largest number of its panel is made 1.5e-8 of it (X. S. Li, J. W.
/// Demmel, SuperLU_DIST: a scalable distributed-memory sparse direct solver for unsymmetric linear systems, 2003; O.
/// Schenk, K. Gaertner, On fast factorization pivoting methods for sparse symmetric indefinite systems, 2006). Parallel
/// as `subtract_product` is, the same bits for every number of threads. 16 bytes for each place of the panels, and 12
/// for an entry of A while it is made; `fault::memory` before they are taken.
///
/// Where `exact` null, and why in `not_exact`, if a pivot was too small, or if they solve with an error of more than
/// 1e-8 (`backward_error`): pivots from elsewhere are needed then. Otherwise `raised` and `error` say so, and factors
/// with an error of more than 1 % are refused with status::breakdown.
std::unique_ptr<factors> factor_supernodal(const columns& a, const host_array<std::int32_t>& place, host_room budget,
                                           const supernodal_wish& wish, std::string& not_exact);

} // namespace furrow::lu
