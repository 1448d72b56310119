// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "elimination.hpp"
#include "factored.hpp"
#include "host_factors.hpp"

#include <string>
#include <utility>

namespace furrow {

/// M r = Dc Q' U^-1 L^-1 Q Dr P r, the inverse of the incomplete factors of Q Dr P A Dc Q'. Solves with L and U level
/// by level (`triangular_solver`); reads both factors once, takes no memory. One application at a time. With sweeps in
/// place of solves M is another one: `make_swept`.
template <class V> class incomplete_lu final : public any_preconditioner<V> {
public:
  explicit incomplete_lu(triangular_factors<V> f);
  void apply(cview<V> r, view<V> z) const override;
  double stored_bytes() const override;
  std::string describe() const override { return about_; }

private:
  triangular_solver<V> lower_, upper_;
  arrangement moved_;
  std::string about_;
  mutable host_array<V> work_; ///< empty where nothing moves
};

/// One of the factors beside its diagonal, in the precision of the solver.
template <class V> row_matrix<V> strict_part(const lu_factors& f, triangle side);

/// M on `where`, or on the host where `lets_factors_stay` lets it, from factors whose rows and columns either move and
/// are scaled, or neither.
template <class V> std::unique_ptr<any_preconditioner<V>> make_factored(triangular_factors<V> f, device where) {
  if (where.is_gpu() && !lets_factors_stay::decide(f.lower, f.upper)) return factored_on_gpu(std::move(f));
  return std::make_unique<incomplete_lu<V>>(std::move(f));
}

/// Puts A in order, has it factorised, and makes M of that. `automatic`: as it stands where the diagonal is not weak,
/// no pivot had to be replaced and the growth is below 1e6; otherwise matched. `name` begins what M says of itself. The
/// host does that; M lives on `where`. `sweeps`: of Jacobi in each solve, see `make_swept`; 0: exact ones.
template <class V>
std::unique_ptr<any_preconditioner<V>> make_incomplete_lu(const coo<V>& a, std::string_view name,
                                                          elimination_order order, const factoriser& factorise,
                                                          index_t sweeps, device where);

/// Of an M whose factors have that many entries, of a matrix of n rows and nnz entries.
preconditioner_layout layout_of_incomplete_lu(const stats& s, precision p, double entries, index_t sweeps);

} // namespace furrow
