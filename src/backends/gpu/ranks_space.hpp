// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mailboxes.hpp"
#include "space.hpp"

#include <array>
#include <span>

namespace furrow::gpu {

/// How sums of this rank's passes become those of all ranks, which call its functions together. They only enqueue,
/// unless `waits`. Added in the order of the ranks: the same bits on all of them, and on every run.
struct sums_over_ranks {
  virtual ~sums_over_ranks() = default;
  /// At most `max_sums` of them.
  virtual void add(std::span<const sum_over_ranks> sums) = 0;
  /// The `count` slots from `first` on, and `last`; count is read when the work is done.
  virtual void add(slot first, slot count, slot last) = 0;
  /// What a kernel needs that adds over the ranks itself; null: none can.
  virtual const mailboxes* in_kernels() const { return nullptr; }
  /// Whether the host takes part in each sum, so that no graph holds it.
  virtual bool waits() const = 0;
  /// Throws `fault::device` where this rank, or another one, has waited in vain.
  virtual void check() const = 0;
  /// Whether what is enqueued may not stand in a graph with a loop: the driver says so when it is made ready.
  virtual bool graphs_may_be_refused() const { return false; }
};

/// What an operator on ranks with GPUs is beside.
struct on_gpus_of_ranks {
  virtual ~on_gpus_of_ranks() = default;
  virtual sums_over_ranks& sums() const = 0;
};

/// A sweep whose last block adds over the ranks.
template <class Step, int N>
__global__ void __launch_bounds__(sweep_threads)
    sweep_over_ranks_kernel(index_t n, Step step, sum_target<N> to, mailboxes all) {
  take_turn();
  double mine[N] = {};
  sweep_share<N>(n, step, mine);
  finish_over_ranks<sweep_threads>(mine, to, all);
}

/// Vectors in the memory of the current GPU, of which each rank has its part: what goes to a slot is the sum over all
/// of them, and n is that of the part. Without ranks it is `space`.
template <class V> class ranks_space : public space<V> {
  using base = space<V>;

public:
  explicit ranks_space(sums_over_ranks* ranks = nullptr) : ranks_(ranks) {}

  template <class Step, class... Slots> void sweep(index_t n, Step step, Slots... out) {
    if constexpr (constexpr int count = sizeof...(Slots); count > 0)
      if (const mailboxes* const all = ranks_ ? ranks_->in_kernels() : nullptr)
        return base::template launch_sweep<true>(sweep_over_ranks_kernel<Step, count>, n, step,
                                                 target(current_queue(), out...), *all);
    base::sweep(n, step, out...);
    over_ranks(out...);
  }
  void dot(cview<V> x, cview<V> y, slot out) { sweep(x.size, dot_step<V>{x, y}, out); }

  template <class E> void project(const basis<E>& all, slot count, cview<V> w, slot h, slot squares) {
    base::project(all, count, w, h, squares);
    if (ranks_) ranks_->add(h, count, squares);
  }
  template <class E>
  void subtract_and_project(const basis<E>& all, slot count, slot h, view<V> w, slot g, slot squares) {
    base::subtract_and_project(all, count, h, w, g, squares);
    if (ranks_) ranks_->add(g, count, squares);
  }
  template <class E, class Step, class... Slots>
  void combine(const basis<E>& all, slot count, slot h, Step step, Slots... out) {
    base::combine(all, count, h, step, out...);
    over_ranks(out...);
  }
  template <class E> void project_two(const basis<E>& all, slot count, cview<V> u, cview<V> w, slot g) {
    base::project_two(all, count, u, w, g);
    if (ranks_) ranks_->add(slot{g.at + 2}, g, slot{g.at + 1}); // g says how many follow u'u
  }
  template <class E, class Step, class... Slots>
  void combine_two(const basis<E>& all, slot count, slot h, Step step, Slots... out) {
    base::combine_two(all, count, h, step, out...);
    over_ranks(out...);
  }

  double read(slot s) {
    double value = 0;
    fetch({s.at, 1}, {&value, 1});
    return value;
  }
  void fetch(cview<double> from, view<double> to) {
    base::fetch(from, to);
    if (ranks_) ranks_->check();
  }

  template <class Body, class Until> loop<Body, Until> repeat(Body body, Until until, bool waits = false) {
    return {body, until, waits || (ranks_ && ranks_->waits()), ranks_ && ranks_->graphs_may_be_refused()};
  }
  template <class Body, class Until, class Beside>
  loop<Body, Until, Beside> repeat(Body body, Until until, bool waits, Beside beside, bool is_any) {
    const bool refused = ranks_ && ranks_->graphs_may_be_refused();
    return {body, until, waits || (ranks_ && ranks_->waits()), refused, beside, is_any && !ranks_};
  }

private:
  template <class... Slots> void over_ranks(Slots... out) {
    if constexpr (sizeof...(Slots) > 0) {
      if (!ranks_) return;
      const std::array sums{sum_over_ranks{out, out}...};
      ranks_->add(sums);
    }
  }

  sums_over_ranks* ranks_;
};

} // namespace furrow::gpu
