// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "core/parameters.hpp"
#include "matrix/rows.hpp"

#include <functional>
#include <string_view>

/// What incomplete eliminations share: order, pivots that vanish, factors that explode.
namespace furrow {

/// B = L U up to what was left out, by rows: those of L (unit diagonal), the pivot, those of U, columns ascending.
struct lu_factors {
  row_matrix<double> rows;
  host_array<index_t> pivot;   ///< where each row's pivot is
  index_t replaced = 0;        ///< pivots that were too small and took another value
  index_t first_replaced = -1; ///< the first of them, a row of B
  double shift = 0;            ///< of the diagonal, in sizes of rows
};

/// In which order an incomplete factorisation takes rows and columns.
enum class elimination_order {
  automatic, ///< as they stand where that gives stable factors, otherwise matched
  natural,   ///< as they stand
  matched    ///< largest product on the diagonal, scaled, then Cuthill and McKee's order reversed
};
elimination_order order_from(const entry_parameters& p, std::size_t k);

/// Whether the diagonal of A promises no good pivots: it has zeros, fewer than a third of the rows are dominant, or the
/// sizes of rows differ by 1e8.
template <class V> bool has_weak_diagonal(row_view<V> a);

/// The pivot of a row of B whose largest entry is `size`, or, where it is below 1e-4 of that, 1e-2 of it with the
/// pivot's sign, which is counted.
double safe_pivot(double pivot, double size, index_t row, lu_factors& f);

/// Throws `fault::memory` where that many bytes cannot be had; `who` is the preconditioner.
void check_fill(double bytes, std::string_view who);

/// Factorises B with `shift` times the size of each row added to its diagonal, away from 0.
using factoriser = std::function<lu_factors(row_view<double> b, double shift)>;

/// How much U^-1 L^-1 magnifies, whatever the scales of rows and columns of B are: the largest |U^-1 L^-1 s|_j c_j,
/// s_i the size of row i and c_j that of column j once rows have size 1; infinite where numbers overflow. One solve.
/// E. Chow, Y. Saad, Experimental study of ILU preconditioners for indefinite matrices, 1997.
double growth(row_view<double> b, const lu_factors& f);

/// Factors whose growth is at most 1e8: the shift is 0, then 1e-3, then ten times as much until that is so. It ends:
/// a large enough shift makes B dominant. Behind a shift with growth beyond all digits, 1e16, it is 1e6: of c-62, where
/// it was 3e23, factors with 1.1e7 bring bicgstab nowhere in 2,000 iterations, the next ones, with 250, to the end in
/// 45; of convection with 1e9 at most those with 1.6e7 take 20 iterations, and the next ones 142.
lu_factors stable_factors(row_view<double> b, const factoriser& factorise);

} // namespace furrow
