// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <vector>

namespace furrow {

/// Where a symmetric matrix has entries under its diagonal: of row i the columns j < i, in any order, each as often as
/// one likes.
struct lower_pattern {
  host_array<index_t> row_ptr; ///< rows + 1 offsets
  host_array<std::int32_t> col;
  index_t rows() const { return row_ptr.size() - 1; }
};

/// The row of the first entry under the diagonal in each column of the Cholesky factor, -1 where there is none: the
/// parent of a column in the elimination tree. J. W. H. Liu, The role of elimination trees in sparse factorization,
/// 1990. Takes nearly a pass over the pattern, and 4 bytes a row beside the answer.
host_array<std::int32_t> elimination_tree(const lower_pattern& a);

/// Nodes of a forest, children before their parents, each subtree in one piece.
std::vector<std::int32_t> postorder(const host_array<std::int32_t>& parent);

/// Entries in each column of the Cholesky factor with its diagonal, exact where no sum cancels, without making it: each
/// row of the factor is a subtree of the elimination tree, whose leaves are entries of A, and a column has as many
/// entries as subtrees pass through it. J. R. Gilbert, E. G. Ng, B. W. Peyton, An efficient algorithm to compute row
/// and column counts for sparse Cholesky factorization, 1994. Nearly a pass over the pattern, whatever the fill; takes
/// 4 bytes an entry and 40 a row.
host_array<index_t> cholesky_counts(const lower_pattern& a, const host_array<std::int32_t>& parent);

} // namespace furrow
