// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "rows_of_rank.hpp"

#include "solvers/exact_residual.hpp"

#include <furrow/formats.hpp>
#include <furrow/operator.hpp>

#include <memory>

namespace furrow {

/// A rank's rows of A as an operator on its parts of the vectors; all ranks call its functions together.
///
///   start the exchange;  y <- A_own x;  finish the exchange;  y += A_far x_far
///
/// so that the way of the halo is hidden behind the product with `own`, which is stored as the choice says; `far` is
/// csr. `shape()` is that of the part: square, the rank's rows. Sums are those of all ranks, one exchange a product.
/// The same bits on every run with the same number of ranks. Scratch is its own: one product at a time.
template <class V> class rank_operator final : public any_operator<V>, public reaches_other_ranks<V> {
public:
  /// Takes the entries of `rows`, which keeps its plan and must outlive it. `own`: how they are stored; read only where
  /// the rank has rows.
  rank_operator(communicator& c, rows_of_rank<V>& rows, const choice& own);

  shape2 shape() const override { return {rows_, rows_}; }
  double bytes_per_apply() const override; ///< of this rank
  double stored_bytes() const override;
  std::string kernel() const override { return own_ ? own_->kernel() : ""; }
  /// Its rows, with columns from shape().cols on for the elements of others, in the order of `with_others`.
  std::optional<coo<V>> to_triplets() const override;

  /// The triplets between its rows and its own elements.
  coo<V> own_block() const;

  host_array<V> with_others(cview<V> x) const override;
  /// Seconds that this rank has waited for halos.
  double waited() const { return waited_; }

protected:
  void do_apply(V alpha, cview<V> x, V beta, view<V> y) const override;
  void do_apply_dot(cview<V> x, view<V> y, slot xy) const override;
  void do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const override;

private:
  cview<V> finish_halo() const;

  communicator& c_;
  index_t rows_;
  std::unique_ptr<any_operator<V>> own_, far_; ///< null where there is nothing
  host_array<std::int32_t> far_rows_;
  mutable halo<V> halo_;
  mutable host_array<V> of_far_; ///< A_far x_far
  mutable double waited_ = 0;
};

} // namespace furrow
