// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "entry.hpp"

#include "core/parameters.hpp"
#include "matrix/permute.hpp"
#include "matrix/triangular.hpp"

#include <functional>
#include <string>

/// What incomplete factors share: the order in which rows are taken, pivots that vanish, and M itself.
namespace furrow {

/// B = L U up to what was left out, by rows: those of L (unit diagonal), the pivot, those of U, columns ascending.
struct lu_factors {
  row_matrix<double> rows;
  host_array<index_t> pivot;   ///< where each row's pivot is
  index_t replaced = 0;        ///< pivots that were too small and took another value
  index_t first_replaced = -1; ///< the first of them, a row of B
};

/// In which order an incomplete factorisation takes rows and columns.
enum class elimination_order {
  automatic, ///< `matched` where the diagonal is weak, see `wants_matching`; otherwise `natural`
  natural,   ///< as they stand
  matched    ///< largest product on the diagonal, scaled, then Cuthill and McKee's order reversed
};
elimination_order order_from(const entry_parameters& p, std::size_t k);

/// Whether the diagonal of A is no good as it stands: it has zeros, few rows are dominant, or rows differ in scale.
template <class V> bool wants_matching(row_view<V> a);

/// The pivot of a row of B whose largest entry is `size`, or, where that is too small, another one of its sign, which
/// is counted.
double safe_pivot(double pivot, double size, index_t row, lu_factors& f);

/// Throws `fault::memory` where that many bytes cannot be had; `who` is the preconditioner.
void check_fill(double bytes, std::string_view who);

/// M r = Dc Q' U^-1 L^-1 Q Dr P r, the inverse of the incomplete factors of Q Dr P A Dc Q'. Solves with L and U level
/// by level (`triangular_solver`); reads both factors once. Two solves with the same M at a time are not possible.
template <class V> class incomplete_lu final : public any_preconditioner<V> {
public:
  incomplete_lu(lu_factors f, arrangement moved, std::string about);
  void apply(cview<V> r, view<V> z) const override;
  double stored_bytes() const override;
  std::string describe() const override { return about_; }

private:
  triangular_solver<V> lower_, upper_;
  arrangement moved_;
  std::string about_;
  mutable host_array<V> work_; ///< empty where nothing moves
};

/// Puts A in order, has it factorised, and makes M of that.
template <class V>
std::unique_ptr<any_preconditioner<V>> make_incomplete_lu(const coo<V>& a, std::string_view name,
                                                          elimination_order order,
                                                          const std::function<lu_factors(row_view<double>)>& factorise);

} // namespace furrow
