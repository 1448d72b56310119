// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/rows.hpp"

namespace furrow::fsai_preconditioner {

inline constexpr index_t most_places = 128; ///< a row of G has

/// G with G A G' close to I: row i has the pattern of row i of tril |A|^level, its `most_places` heaviest at most, and
/// is the last row of the inverse Cholesky factor of A at those places. A is symmetric with a diagonal of ones. A row
/// whose places do not make a positive definite matrix, which rounding alone explains where A is one, keeps its
/// diagonal.
struct inverse_factor {
  row_matrix<double> g;
  index_t diagonal_rows = 0;
};

/// Rows in blocks of a fixed number on all threads, each row m^3 / 3 operations for m places: the same bits for any
/// number of threads. Throws `fault::memory` before the result is taken. L. Yu. Kolotilina, A. Yu. Yeremin, Factorized
/// sparse approximate inverse preconditionings I, 1993.
inverse_factor rows_of_inverse(row_view<double> a, index_t level);

} // namespace furrow::fsai_preconditioner
