// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "formats/dia/dia.hpp"
#include "matrix/rows.hpp"
#include "preconditioners/amg/hierarchy.hpp"

namespace furrow::amg {

class box_matrix;

/// The hierarchy of a symmetric matrix of a box with a positive diagonal: a direction is halved while the entries along
/// it are at least 0.3 of the largest ones', P along each from the matrix, then P'A P. Levels until at most 150 rows
/// are left, 512 where that is all of A, or none is coupled. At most 27 entries a row on every level. Throws a
/// `refusal` where A is proved to be indefinite. Parallel; the same bits for every number of threads.
template <class W> hierarchy<W> grid_hierarchy(box_matrix a);

/// By rows, without zeros.
row_matrix<double> by_rows(const dia<double, cview>& a);

} // namespace furrow::amg
