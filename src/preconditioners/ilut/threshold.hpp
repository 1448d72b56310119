// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "preconditioners/elimination.hpp"

namespace furrow::ilut_preconditioner {

/// ILUT(p, tau): what is below tau times the 2-norm of its row of A is dropped, and of what is left each side of the
/// diagonal keeps its largest entries, as many as that row of A has there and `fill` more. Row by row; columns are
/// eliminated in ascending order, ties go to the smaller column: the same bits on every run. `shift`: see `factoriser`.
/// Serial. Throws `fault::memory` before it takes what cannot be had. Y. Saad, ILUT: a dual threshold incomplete LU
/// factorization, 1994.
lu_factors factorise_by_threshold(row_view<double> a, index_t fill, double drop, double shift = 0);

} // namespace furrow::ilut_preconditioner
