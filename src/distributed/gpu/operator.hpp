// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "link.hpp"

#include "backends/gpu/side_stream.hpp"
#include "distributed/operator.hpp"

#include <span>
#include <utility>

namespace furrow::gpu {

/// The operator of a rank that has a GPU, where the vectors lie. A product is enqueued and waits for nothing, but where
/// the ranks go through the host:
///
///   y <- A_own x with its sums          beside it: write what neighbours need into their memory, and tell them;
///                                       w <- A_far x_far, each element as soon as it is there, and what that adds to
///                                       the sums
///   y += w, and add the sums over the ranks
///
/// so that on the way of a product there is one small kernel that one GPU has not, and a graph holds it. Through the
/// host and by NCCL the right side stands behind the left one, and sums are added by kernels of their own, as those of
/// y . y are always. A row of `far` is added up by one thread, or four where rows are long.
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
  template <class Own> void multiply(V alpha, cview<V> x, std::span<const V* const> u, Own own) const;
  /// of_far_ <- alpha A_far x_far, and into `at(5)` and `at(6)` what that adds to y . u.
  void multiply_far(const queue& q, V alpha, std::span<const V* const> u) const;
  template <std::size_t... K>
  void multiply_far(const queue& q, V alpha, const V* const* u, std::index_sequence<K...>) const;
  void add_far(view<V> y, const mailboxes* all, const few_sums& sums) const;
  template <class T> static T* scratch(const gpu_array<T>& a) { return const_cast<T*>(a.data()); }
  slot at(int k) const { return {const_cast<double*>(sums_.data()) + k}; }

  device where_;
  link& link_;
  gpu_array<index_t> begins_; ///< of the rows of `far`
  gpu_array<std::int32_t> columns_, rows_there_;
  gpu_array<V> values_;
  std::unique_ptr<halo_on_gpu<V>> halo_there_;
  gpu_array<V> of_far_;
  gpu_array<double> sums_;    ///< of `own`, and of `far`
  gpu_array<double> partial_; ///< of the far part's sums: those of the queue are in use beside
  gpu_array<unsigned> arrived_;
  side_stream beside_;
};

} // namespace furrow::gpu
