// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "link.hpp"
#include "nccl_notes.hpp"
#include "pack.hpp"

#include "distributed/nccl/group.hpp"

namespace furrow::gpu {

/// Comes when what is enqueued before it has ended, on the stream beside, too. A kernel of `launch` in its place would
/// begin before that: it follows the last one of its own stream alone.
static __global__ void join_kernel(tick ended) { ended.raise(); }

/// Streams that belong together: what is enqueued between `fork` and `join` runs beside the rank's own.
class side_stream {
public:
  side_stream() {
    check(runtime::make_stream(&stream_));
    check(runtime::make_event(&fork_));
    check(runtime::make_event(&join_));
  }
  side_stream(const side_stream&) = delete;
  ~side_stream() {
    runtime::wait(stream_);
    runtime::end(join_), runtime::end(fork_), runtime::end(stream_);
  }
  runtime::stream get() const { return stream_; }
  void fork(const queue& from) const {
    check(runtime::record(fork_, from.stream));
    check(runtime::follow(stream_, fork_));
  }
  void end() const { check(runtime::record(join_, stream_)); }
  void join(const queue& to) const { check(runtime::follow(to.stream, join_)); }

private:
  runtime::stream stream_ = nullptr;
  runtime::event fork_ = nullptr, join_ = nullptr;
};

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

  void start(cview<V> x) override {
    if (alone()) return;
    end_.check();
    const queue& q = current_queue();
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
