// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "distributed/gpu/far_rows.hpp"
#include "distributed/halo.hpp"

#include "backends/gpu/primitives.hpp"

#include <furrow/operator.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace furrow::amg {

/// A vector of all ranks, from those of others and the own one.
static __global__ void __launch_bounds__(gpu::far_threads)
    put_side_by_side(gpu::arriving<double> x, cview<double> mine, index_t first, view<double> all) {
  gpu::take_turn();
  const gpu::elements_of_others<double> there(x);
  const index_t i = index_t(blockIdx.x) * gpu::far_threads + threadIdx.x;
  if (i >= all.size) return;
  const index_t own = i - first;
  if (own >= 0 && own < mine.size) {
    all[i] = mine[own];
    return;
  }
  double element[1];
  there.take({static_cast<std::int32_t>(own < 0 ? i : i - mine.size)}, element);
  all[i] = element[0];
}

/// Levels that each rank has wholly: it gets the b of all, by the way of a halo, and solves for all of x.
class gathered_level {
public:
  /// m: of the whole matrix, on this rank's GPU. All ranks call it.
  gathered_level(communicator& c, gpu::link& between, const std::vector<index_t>& begins,
                 std::unique_ptr<any_preconditioner<double>> m)
      : m_(std::move(m)), first_(begins[static_cast<std::size_t>(c.rank())]),
        plan_(plan_halo(c, begins, others(begins, c.rank()))), halo_(between.make_halo(plan_, double())),
        mine_(begins[static_cast<std::size_t>(c.rank()) + 1] - first_), b_(begins.back()), x_(begins.back()) {}
  gathered_level(const gathered_level&) = delete;

  index_t rows() const { return b_.size(); }
  const any_preconditioner<double>& m() const { return *m_; }
  view<double> b() { return as_view(mine_); } ///< of this rank
  cview<double> x() const { return {x_.data() + first_, mine_.size()}; }

  void solve() {
    if (b_.empty()) return;
    const gpu::queue& q = gpu::current_queue();
    halo_->start(as_cview(mine_), q);
    gpu::launch(put_side_by_side, unsigned((b_.size() + gpu::far_threads - 1) / gpu::far_threads), gpu::far_threads, 0,
                q, halo_->finish(), as_cview(mine_), first_, as_view(b_));
    m_->apply(as_cview(b_), as_view(x_));
  }

private:
  static host_array<std::int32_t> others(const std::vector<index_t>& begins, int rank) {
    const index_t first = begins[static_cast<std::size_t>(rank)], last = begins[static_cast<std::size_t>(rank) + 1];
    host_array<std::int32_t> all(begins.back() - (last - first));
    for (index_t k = 0; k < all.size(); ++k) all[k] = static_cast<std::int32_t>(k < first ? k : k + (last - first));
    return all;
  }

  std::unique_ptr<any_preconditioner<double>> m_;
  index_t first_;
  halo_plan plan_;
  std::unique_ptr<gpu::halo_on_gpu<double>> halo_;
  gpu_array<double> mine_, b_, x_;
};

} // namespace furrow::amg
