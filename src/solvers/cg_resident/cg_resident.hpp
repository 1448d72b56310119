// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "plan.hpp"

#include "preconditioners/chebyshev/polynomial.hpp"
#include "preconditioners/stored_product.hpp"
#include "solvers/entry.hpp"

namespace furrow::resident {

inline constexpr names cg_names{"cg_resident", "cg"};
/// x, r, q, z and M; z of the halo.
inline constexpr vectors_kept layout{5, 1, 0, 0};
/// Of a polynomial: x, r, q, z, D^-1, what is left of r, and the vector that A multiplies next; z and that of the halo.
inline constexpr vectors_kept polynomial_layout{7, 2, 1, 1};
/// Of an M that is a matrix: x, r, q, z and the offsets of M; z of the halo.
inline constexpr vectors_kept matrix_layout{6, 1, 0, 0};
/// Products and one at most of a polynomial: each has words of its own.
inline constexpr index_t most_terms = 16;

/// M as a polynomial that is applied on the chip; null where it is none.
template <class V> const chebyshev_preconditioner::known_polynomial<V>* polynomial_in(const any_preconditioner<V>& m) {
  const auto* const found = dynamic_cast<const chebyshev_preconditioner::known_polynomial<V>*>(&m);
  return found && found->terms() <= most_terms ? found : nullptr;
}

/// M as a matrix; null where it shows none.
template <class V> const known_matrix<V>* matrix_in(const any_preconditioner<V>& m) {
  const auto* const found = dynamic_cast<const known_matrix<V>*>(&m);
  return found && found->is_known() ? found : nullptr;
}

/// Lays A out for the chip of that GPU, the current one, and for this M. Throws `fault::memory` where it does not fit
/// there.
template <class V>
std::unique_ptr<solver_keeps> keep_on_chip(const coo<V>& a, const any_preconditioner<V>& m, device where);

/// Conjugate gradients in one kernel for many steps: x, r, p and where it can A stay in the shared memory of the
/// multiprocessors. `system.kept` is what `keep_on_chip` made; M is the identity, a diagonal, a
/// matrix whose entries stay within blocks of rows that follow each other, or a polynomial of at most `most_terms`
/// terms, of which each but the first is a product and a way through the second cache.
///
/// The steps are those of `conjugate_gradients`, whose judge, verdicts, restarts and estimates it has; sums have
/// another order. Between steps elements of z pass from block to block, and two sums (`steps_kernel`). Cost of a step:
/// two ways through the second cache, whatever the size; 3 us of an H200 where a row is a thread's. Memory: beside
/// cg's, A by rows with columns of 2 bytes, and a word of 8 or 16 bytes a row. The same bits on every run with the same
/// build and device.
template <class V> solve_report run(const linear_system<V>& system, const solve_options& options);

} // namespace furrow::resident
