// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/entry.hpp"

#include <furrow/space.hpp>

#include <cmath>
#include <memory>

/// Counts what a solver does, so that a unit test can hold it to what its header promises.
namespace furrow::kit {

struct traffic {
  index_t sweeps = 0, dots = 0, copies = 0, products = 0, scalings = 0, projections = 0;
  index_t waits = 0;              ///< reads, fetches and runs of a loop
  index_t waits_inside_loops = 0; ///< of those, while a loop was running
  index_t loops_running = 0;
  double bytes = 0;

  index_t passes_inside_loops = 0;
  double bytes_inside_loops = 0;

  index_t passes() const { return sweeps + dots + copies + products + scalings + projections; }
  void pass(index_t& kind, double moved) {
    ++kind;
    bytes += moved;
    if (loops_running == 0) return;
    ++passes_inside_loops;
    bytes_inside_loops += moved;
  }
  void wait() {
    ++waits;
    waits_inside_loops += loops_running > 0;
  }
};

/// Any space of the host, counting. Bytes of a sweep are what its step declares.
template <vector_space S> class counting_space {
public:
  using value = typename S::value;

  counting_space(S& inner, traffic& seen) : s_(inner), seen_(seen) {}

  auto make(index_t n) { return s_.make(n); }
  auto make_slots(index_t n) { return s_.make_slots(n); }
  void copy(cview<value> x, view<value> y) {
    seen_.pass(seen_.copies, bytes_of(2, x.size));
    s_.copy(x, y);
  }
  template <class Step, class... Slots> void sweep(index_t n, Step step, Slots... out) {
    seen_.pass(seen_.sweeps, bytes_of_step<Step>(n));
    s_.sweep(n, step, out...);
  }
  void dot(cview<value> x, cview<value> y, slot out) {
    seen_.pass(seen_.dots, bytes_of(2, x.size));
    s_.dot(x, y, out);
  }
  template <class E = value> auto make_basis(index_t n, index_t most) { return s_.template make_basis<E>(n, most); }
  template <class E> void project(const basis<E>& all, slot count, cview<value> w, slot h, slot squares) {
    seen_.pass(seen_.projections, bytes_of_basis(all, count) + bytes_of(1, all.n));
    s_.project(all, count, w, h, squares);
  }
  template <class E>
  void subtract_and_project(const basis<E>& all, slot count, slot h, view<value> w, slot g, slot squares) {
    seen_.pass(seen_.projections, bytes_of_basis(all, count) + bytes_of(2, all.n));
    s_.subtract_and_project(all, count, h, w, g, squares);
  }
  template <class E, class Step, class... Slots>
  void combine(const basis<E>& all, slot count, slot h, Step step, Slots... out) {
    seen_.pass(seen_.projections, bytes_of_basis(all, count) + bytes_of_step<Step>(all.n));
    s_.combine(all, count, h, step, out...);
  }
  template <class E> void project_two(const basis<E>& all, slot count, cview<value> u, cview<value> w, slot g) {
    seen_.pass(seen_.projections, bytes_of_basis(all, count) + bytes_of(2, all.n));
    s_.project_two(all, count, u, w, g);
  }
  template <class E, class Step, class... Slots>
  void combine_two(const basis<E>& all, slot count, slot h, Step step, Slots... out) {
    seen_.pass(seen_.projections, bytes_of_basis(all, count) + bytes_of_step<Step>(all.n));
    s_.combine_two(all, count, h, step, out...);
  }
  template <class F> void scalars(F f) { s_.scalars(f); }
  double read(slot s) {
    seen_.wait();
    return s_.read(s);
  }
  void fetch(cview<double> from, view<double> to) {
    seen_.wait();
    s_.fetch(from, to);
  }
  void put(cview<double> from, view<double> to) { s_.put(from, to); }

  template <class Loop> struct counted_loop {
    Loop inner;
    traffic& seen;
    bool run(index_t steps) {
      seen.wait();
      ++seen.loops_running;
      const bool done = inner.run(steps);
      --seen.loops_running;
      return done;
    }
  };
  template <class Body, class Until> auto repeat(Body body, Until until, bool waits = false) {
    using loop = decltype(s_.repeat(body, until)); // need not be movable
    return counted_loop<loop>{s_.repeat(std::move(body), std::move(until), waits), seen_};
  }

private:
  /// Of the vectors in use; slots lie on the host.
  template <class E> static double bytes_of_basis(const basis<E>& all, slot count) {
    return std::floor(*count.at) * double(all.n) * sizeof(E);
  }
  template <class Step> static double bytes_of_step(index_t n) {
    if constexpr (requires { Step::bytes; }) return double(Step::bytes) * double(n);
    else return bytes_of(Step::reads + Step::writes, n);
  }
  static double bytes_of(int vectors, index_t n) { return double(vectors) * double(n) * sizeof(value); }

  S& s_;
  traffic& seen_;
};

/// Any operator, counting a pass and the bytes that it states for each product, and the vectors of an epilogue.
template <class V> class counting_operator final : public any_operator<V> {
public:
  counting_operator(std::unique_ptr<any_operator<V>> inner, traffic& seen) : inner_(std::move(inner)), seen_(seen) {}
  shape2 shape() const override { return inner_->shape(); }
  device where() const override { return inner_->where(); }
  void do_apply(V alpha, cview<V> x, V beta, view<V> y) const override {
    count();
    inner_->apply(alpha, x, beta, y);
  }
  void do_apply_dot(cview<V> x, view<V> y, slot xy) const override {
    count();
    inner_->apply_dot(x, y, xy);
  }
  void do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const override {
    index_t beside = e.b.data ? e.b.size : 0; // elements
    const auto reads = [&](slot to, cview<V> u) {
      beside += to.at && u.data != x.data && u.data != y.data ? y.size : 0;
    };
    reads(e.one.to, e.one.u), reads(e.all.to, e.all.u), reads(e.all.to, e.all.w);
    count(double(beside) * sizeof(V));
    inner_->apply_with(x, y, e);
  }
  double bytes_per_apply() const override { return inner_->bytes_per_apply(); }
  double stored_bytes() const override { return inner_->stored_bytes(); }
  std::string kernel() const override { return inner_->kernel(); }
  std::optional<coo<V>> to_triplets() const override { return inner_->to_triplets(); }

private:
  void count(double beside = 0) const { seen_.pass(seen_.products, inner_->bytes_per_apply() + beside); }
  std::unique_ptr<any_operator<V>> inner_;
  traffic& seen_;
};

/// A preconditioner that hides what it is: a solver must give it a pass of its own.
template <class V> class general_preconditioner final : public any_preconditioner<V> {
public:
  general_preconditioner(std::unique_ptr<any_preconditioner<V>> inner, traffic& seen)
      : inner_(std::move(inner)), seen_(seen) {}
  void apply(cview<V> r, view<V> z) const override {
    seen_.pass(seen_.scalings, inner_->stored_bytes() + 2.0 * double(r.size) * sizeof(V));
    inner_->apply(r, z);
  }
  double stored_bytes() const override { return inner_->stored_bytes(); }

private:
  std::unique_ptr<any_preconditioner<V>> inner_;
  traffic& seen_;
};

} // namespace furrow::kit
