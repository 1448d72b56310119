// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/rows.hpp"

namespace furrow::fsai_preconditioner {

inline constexpr index_t most_places = 128; ///< a row of G has

/// Which places the rows of G have. Static, `steps` = 0: those of row i of tril |A|^level, the `most_places` heaviest
/// at most. Adaptive: the diagonal, and in each step the `width` places before it at which g A g' with g_i = 1 falls
/// fastest, by its gradient 2 A g; until a step lowers it by less than 1/1000. g A g' is what Kaporin's condition
/// number, trace by determinant of G A G', is made of (C. Janna, M. Ferronato, Adaptive pattern research for block
/// FSAI preconditioning, 2011).
struct places_wanted {
  index_t level = 1, steps = 0, width = 0;
};

/// G with G A G' close to I: row i is the last row of the inverse Cholesky factor of A at its places. A is symmetric
/// with a diagonal of ones. A row whose places do not make a positive definite matrix, which rounding alone explains
/// where A is one, keeps its diagonal.
struct inverse_factor {
  row_matrix<double> g;
  index_t diagonal_rows = 0;
};

/// Rows in blocks of a fixed number on all threads, each row m^3 / 3 operations for m places, in every step where they
/// are adaptive: the same bits for any number of threads. Hears `stops_set_up`. Throws `fault::memory` before the
/// result is taken. L. Yu. Kolotilina, A. Yu. Yeremin, Factorized sparse approximate inverse preconditionings I, 1993.
inverse_factor rows_of_inverse(row_view<double> a, const places_wanted& places);

} // namespace furrow::fsai_preconditioner
