// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "link.hpp"

#include "distributed/operator.hpp"

namespace furrow::gpu {

/// The operator of a rank that has a GPU, where the vectors lie. A product is enqueued and waits for nothing, but where
/// the ranks go through the host:
///
///   write what neighbours need into their memory, and tell them;  y <- A_own x with its sums;
///   wait until they have told, y += A_far x_far with what that adds to the sums;  add the sums over the ranks
///
/// each of them a kernel, so that a graph holds it. A row of `far` is added up by one thread, or eight where rows are
/// long.
template <class V> class rank_operator_on_gpu final : public operator_of_rank<V>, public on_gpus_of_ranks {
  using base = operator_of_rank<V>;
  using base::own_, base::far_rows_;

public:
  /// As that of `rank_operator`; `halo` is made by `between`, which must outlive it, for the plan of `rows`.
  rank_operator_on_gpu(communicator& c, rows_of_rank<V>& rows, std::unique_ptr<any_operator<V>> own, link& between,
                       std::unique_ptr<halo_on_gpu<V>> halo);

  device where() const override { return where_; }
  sums_over_ranks& sums() const override { return link_; }
  double waited() const override { return base::waited_ + link_.waited(); }

protected:
  void do_apply(V alpha, cview<V> x, V beta, view<V> y) const override;
  void do_apply_dot(cview<V> x, view<V> y, slot xy) const override;
  void do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const override;
  std::optional<coo<V>> far_triplets() const override;
  double far_bytes() const override;
  double far_bytes_per_apply() const override;

private:
  /// y += alpha A_far x_far, and share[k] <- what that adds to y . u[k].
  void add_far(V alpha, view<V> y, std::span<const cview<V>> u, std::span<const slot> share) const;
  slot at(int k) const { return {const_cast<double*>(sums_.data()) + k}; }

  device where_;
  link& link_;
  gpu_array<index_t> begins_; ///< of the rows of `far`
  gpu_array<std::int32_t> columns_, rows_there_;
  gpu_array<V> values_;
  std::unique_ptr<halo_on_gpu<V>> halo_there_;
  gpu_array<double> sums_; ///< of `own`, of `far`, and one for nobody
};

} // namespace furrow::gpu
