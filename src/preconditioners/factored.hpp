// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "preconditioners/entry.hpp"

#include "matrix/permute.hpp"
#include "matrix/triangular.hpp"

#include <furrow/error.hpp>

#include <string>

namespace furrow {

/// M r = C Q' U^-1 L^-1 Q R P r: triangular factors, given as `triangular_solver` takes them, behind rows and columns
/// that are moved and scaled. Where `moved.row` is empty nothing moves, where its scales are, nothing is scaled.
template <class V> struct triangular_factors {
  row_matrix<V> lower, upper; ///< beside the diagonals
  host_array<V> lower_inverse, upper_inverse;
  arrangement moved;
  std::string about;
};

/// M on the current GPU. Rows lie in the order of their levels, some lanes take one each, and wait for the elements
/// that they need until those are there: a solve is one kernel, whose time is that of its longest chain of rows or of
/// one reading of the factor. A row adds up its entries in an order of its own: the same bits on every run.
/// W. Liu, A. Li, J. Hogg, I. S. Duff, B. Vinter, A synchronization-free algorithm for parallel sparse triangular
/// solves, 2016.
#if FURROW_HAS_GPU
template <class V> std::unique_ptr<any_preconditioner<V>> factored_on_gpu(triangular_factors<V> f);
#else
template <class V> std::unique_ptr<any_preconditioner<V>> factored_on_gpu(triangular_factors<V>) {
  throw error(fault::device, "this build has no GPU part");
}
#endif

} // namespace furrow
