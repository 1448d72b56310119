// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "subdomains.hpp"

#include "preconditioners/factored.hpp"

#include <string>

namespace furrow::schwarz_preconditioner {

/// Incomplete factors of the diagonal blocks that belong to the parts, one behind the other, as one matrix.
template <class V> struct blocks {
  triangular_factors<V> factors;
  std::vector<index_t> begin; ///< the first row of each block, and the number of rows
  std::string about;          ///< words about pivots and shifts; may be empty
};

/// `b` is A with its rows and columns in the order of `s`. ILU(0); IC(0) where M must be symmetric: then the diagonal
/// of b is ones. Parts are shared by the threads; the same bits for any number of them.
template <class V> blocks<V> factorise(row_view<double> b, const subdomains& s, bool symmetric);

/// M of those factors, on the CPU: a block is solved with by one thread. One application at a time.
template <class V> std::unique_ptr<any_preconditioner<V>> factored_by_blocks(blocks<V> b);

} // namespace furrow::schwarz_preconditioner
