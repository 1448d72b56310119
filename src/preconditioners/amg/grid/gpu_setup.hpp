// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "detect.hpp"
#include "formats/csr/csr.hpp"
#include "preconditioners/amg/hierarchy.hpp"

namespace furrow::amg {

/// `find_box` of a matrix by rows in the memory of the current GPU, columns of a row ascending. One pass over the
/// columns and one over the faces of the box; waits. Of double and float.
template <class V> found_box find_box_on_gpu(const rows<V, cview>& a);

/// `grid_hierarchy` of such a matrix, on the current GPU: the levels of the host, up to the rounding of sums over all
/// rows. A pass over A, 2 over each level's matrix, and 2 more for each direction that is halved. Takes 8 bytes for
/// each place of the diagonals of A, and half of that again, while it works. Waits some 3 times a level. The same bits
/// on every run.
#if FURROW_HAS_GPU
template <class W, class V>
hierarchy<W, gpu_array> grid_hierarchy_on_gpu(const rows<V, cview>& a, const found_box& found);
#endif

} // namespace furrow::amg
