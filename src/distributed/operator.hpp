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
/// so that the way of the halo is hidden behind the product with `own`, in the format that was chosen for it; `far` is
/// csr. `shape()` is that of the part: square, the rank's rows. Sums are those of all ranks, one exchange a product.
/// The same bits on every run with the same number of ranks. Scratch is its own: one product at a time.
template <class V> class operator_of_rank : public any_operator<V>, public reaches_other_ranks<V> {
public:
  shape2 shape() const final { return {rows_, rows_}; }
  double bytes_per_apply() const final; ///< of this rank
  double stored_bytes() const final;
  std::string kernel() const final { return own_ ? own_->kernel() : ""; }
  /// Its rows, with columns from shape().cols on for the elements of others, in the order of `with_others`.
  std::optional<coo<V>> to_triplets() const final;

  /// The triplets between its rows and its own elements; and those of the rows `far_rows` with the elements of others.
  coo<V> own_block() const;
  coo<V> far_block() const;
  const host_array<std::int32_t>& far_rows() const { return far_rows_; }

  host_array<V> with_others(cview<V> x) const final;
  /// Seconds that this rank has waited for others.
  virtual double waited() const { return waited_; }

protected:
  /// Keeps the plan of `rows`, which must outlive it. `own`: the block of the rank, stored; null where it has no rows.
  operator_of_rank(communicator& c, rows_of_rank<V>& rows, std::unique_ptr<any_operator<V>> own);

  /// Of the entries in columns of others, whose rows are those of `far_rows`; empty: they cannot be told.
  virtual std::optional<coo<V>> far_triplets() const = 0;
  /// Bytes that they take, and those that a product with them moves.
  virtual double far_bytes() const = 0;
  virtual double far_bytes_per_apply() const = 0;

  cview<V> finish_halo() const;

  communicator& c_;
  index_t rows_, far_columns_;
  std::unique_ptr<any_operator<V>> own_; ///< null where the rank has no rows
  host_array<std::int32_t> far_rows_;
  mutable halo<V> halo_;
  mutable double waited_ = 0;
};

/// In host memory.
template <class V> class rank_operator final : public operator_of_rank<V> {
  using base = operator_of_rank<V>;
  using base::c_, base::own_, base::far_rows_, base::halo_, base::finish_halo;

public:
  /// As that of `operator_of_rank`; takes the entries of `far`.
  rank_operator(communicator& c, rows_of_rank<V>& rows, std::unique_ptr<any_operator<V>> own);

protected:
  void do_apply(V alpha, cview<V> x, V beta, view<V> y) const override;
  void do_apply_dot(cview<V> x, view<V> y, slot xy) const override;
  void do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const override;
  std::optional<coo<V>> far_triplets() const override { return far_ ? far_->to_triplets() : coo<V>{}; }
  double far_bytes() const override { return far_ ? far_->stored_bytes() : 0; }
  double far_bytes_per_apply() const override { return far_ ? far_->bytes_per_apply() : 0; }

private:
  std::unique_ptr<any_operator<V>> far_; ///< null where there is nothing
  mutable host_array<V> of_far_;         ///< A_far x_far
};

} // namespace furrow
