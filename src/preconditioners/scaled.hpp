// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "entry.hpp"

#include <memory>

namespace furrow {

/// Diagonals R and C around a matrix: of its rows, and of its columns.
template <class V> struct diagonal_scales {
  host_array<V> row, col; ///< positive
  bool symmetric = false; ///< R = C
};

/// Whether M of that name has a use for scales: multigrid has none, which scales by the diagonal itself and whose
/// coarse spaces hold the constants of A as it stands.
bool may_be_scaled(std::string_view precond);

/// M = C N R around A, where N is the preconditioner of that name for R A C: with scales as good as they can be N sees
/// rows of like sizes, and the solver goes on with A itself, in whose residuals it is judged. A M = R^-1 (R A C N) R:
/// iterations span the spaces of those with N on R A C. A diagonal where N is one; symmetric and definite where N is
/// and R = C. Throws as the maker of N, and `fault::usage` where M must be symmetric and R is not C. Takes the triplets
/// of R A C while it is made, and 2 vectors beside N. An application adds two passes over 3 vectors.
template <class V>
std::unique_ptr<any_preconditioner<V>> make_scaled_preconditioner(std::string_view name, const coo<V>& a, device where,
                                                                  solver_needs needed,
                                                                  std::shared_ptr<const diagonal_scales<V>> scales);

/// For other values of A, and their scales, from what such an M keeps; null where it has to be made from the beginning.
template <class V>
std::unique_ptr<any_preconditioner<V>> renew_scaled(std::unique_ptr<any_preconditioner<V>> m, const coo<V>& a,
                                                    solver_needs needed,
                                                    std::shared_ptr<const diagonal_scales<V>> scales);

} // namespace furrow
