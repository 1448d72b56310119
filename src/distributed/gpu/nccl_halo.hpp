// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "link.hpp"
#include "nccl_notes.hpp"
#include "pack.hpp"

#include "backends/gpu/side_stream.hpp"
#include "distributed/nccl/group.hpp"

namespace furrow::gpu {

/// Comes when what is enqueued before it has ended, on the stream beside, too. A kernel of `launch` in its place would
/// begin before that: it follows the last one of its own stream alone.
static __global__ void join_kernel(tick ended) { ended.raise(); }

/// Runs beside the product with the rank's own columns.
template <class V> class nccl_halo final : public halo_on_gpu<V> {
public:
  nccl_halo(nccl::group& group, const nccl::ending& end, const halo_plan& plan, const side_stream& beside,
            const way_to_notes& notes)
      : group_(group), end_(end), plan_(plan), beside_(beside), begun_(notes.counting(&nccl::counts::halos_begun)),
        ended_(notes.counting(&nccl::counts::halos_ended)), rows_(plan.rows_sent), packed_(plan.rows_sent.size()),
        there_(plan.columns.size()) {
    if (alone()) return;
    fill_bytes(packed_, 0);
    wait(current_queue());
    group_.exchange(plan_, packed_.data(), there_.data(), beside_.get()); // NCCL connects them, outside of graphs
    check(runtime::wait(beside_.get()));
  }

  nccl_halo(const nccl_halo&) = delete;
  ~nccl_halo() override { runtime::wait(beside_.get()); } // of what was begun and not finished

  void start(cview<V> x, const queue& q) override {
    if (alone()) return;
    end_.check();
    pack(rows_, x, packed_.data(), begun_, q);
    beside_.fork(q);
    group_.exchange(plan_, packed_.data(), there_.data(), beside_.get());
    beside_.end();
  }
  arriving<V> finish() override {
    arriving<V> here;
    if (alone()) return here;
    const queue& q = current_queue();
    beside_.join(q);
    join_kernel<<<1, 1, 0, q.stream>>>(ended_);
    check_launch();
    here.there = there_.data();
    return here;
  }

private:
  bool alone() const { return plan_.sends.empty() && plan_.receives.empty(); }

  nccl::group& group_;
  const nccl::ending& end_;
  const halo_plan& plan_;
  const side_stream& beside_;
  tick begun_, ended_;
  gpu_array<std::int32_t> rows_;
  gpu_array<V> packed_, there_;
};

} // namespace furrow::gpu
