// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "subdomains.hpp"

#include "preconditioners/entry.hpp"

#include <string>

namespace furrow::schwarz_preconditioner {

/// Rows of a subdomain, its overlap with them: inverting 840 took 2 s, in steps that each pass over 5.6 MB.
inline constexpr index_t most_dense_rows = 512;

/// The inverses of the diagonal blocks that belong to the parts, complete.
template <class V> struct dense_blocks {
  host_array<V> inverses;            ///< one behind the other, each by columns
  std::vector<index_t> begin, place; ///< the first row of each block and of its inverse; and the ends
  std::string about;                 ///< words about shifts; may be empty
};

/// Throws `fault::usage` for a part of more rows than `most_dense_rows`, and `fault::memory` where the inverses, as
/// triplets too where they go to a GPU, cannot be had.
template <class V> void must_be_small(const subdomains& s, device where);

/// `b` is A with its rows and columns in the order of `s`. Gauss-Jordan with row pivots, 2 k^3 operations for k rows; a
/// block that has no pivot, whose inverse magnifies by more than 1e8 (`growth`), or that is not positive definite where
/// M must be symmetric, gets 0.001 of each row's size added to its diagonal, then ten times as much. Parts are shared
/// by the threads; the same bits for any number of them.
template <class V> dense_blocks<V> invert_blocks(row_view<double> b, const subdomains& s, bool symmetric);

/// M of those inverses: a product with each, which on the CPU a thread makes, and on a GPU one in the format that
/// `auto` takes for all of them. Reads the inverses once. One application at a time.
template <class V> std::unique_ptr<any_preconditioner<V>> multiplied_by_blocks(dense_blocks<V> d, device where);

} // namespace furrow::schwarz_preconditioner
