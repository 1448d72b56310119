// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "judge.hpp"
#include "messages.hpp"
#include "steps.hpp"

#include "solvers/iteration.hpp"

namespace furrow {

/// Preconditioned conjugate gradients: A x = b for symmetric positive definite A and M, written once for every space.
///
///   q = A p;  alpha = r'z / p'q;  x += alpha p;  r -= alpha q;  z = M r;  beta = r'z / (r'z)_old;  p = z + beta p
///
/// `a` and `m` act in the space's memory; system.b and system.x are views of it and must not overlap. x holds the first
/// guess. Allocates p, q, and z where M is neither the identity nor a diagonal, beside what `iteration` takes.
/// Cost of an iteration: one product with A fused with p'q, and two passes: r (3 vectors) and x, p (5 vectors); a
/// diagonal M adds one vector to each. Scalars stay beside the vectors; the host waits once a chunk of iterations.
/// Stops as `status` says; verdicts, starting again and what comes back: `iteration`.
/// The same bits on every run with the same build and device.
/// M. R. Hestenes, E. Stiefel, Methods of conjugate gradients for solving linear systems, 1952; the fused passes
/// as in Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 9.1.
template <vector_space S> class conjugate_gradients {
  using V = value_of<S>;
  using kind = typename any_preconditioner<V>::kind;

public:
  conjugate_gradients(S& space, const linear_system<V>& system, const solve_options& options)
      : s_(space), a_(system.a), m_(system.m), x_(system.x), n_(system.b.size), what_(m_.what()),
        it_(space, system, options, cg_scalars::slot_count), p_(space.make(n_)), q_(space.make(n_)),
        z_(space.make(stored() ? n_ : 0)), judge_{it_.slots(), rounding(system), std::numeric_limits<V>::epsilon() / 2,
                                                  stored()} {}

  solve_report run() {
    solve_report report = it_.run([this] { start(); }, [this] { step(); }, judge_, cg_messages::explain);
    report.bytes_per_iteration = bytes_per_iteration();
    return report;
  }

private:
  bool stored() const { return what_ == kind::general; }
  slot at(int name) { return it_.at(name); }

  /// p = z = M r and the scalars that go with it.
  void start() {
    using namespace cg_scalars;
    const auto p = out(as_view(p_));
    const auto r = in(it_.r());
    if (stored()) {
      m_.apply(it_.r(), as_view(z_));
      s_.sweep(n_, pass(cg_steps::begin_stored<V>{}, p, r, in(as_view(z_))), at(rz), at(pp));
    } else if (what_ == kind::diagonal) s_.sweep(n_, pass(cg_steps::begin<V>{}, p, r, in(m_.diagonal())), at(rz));
    else s_.sweep(n_, pass(cg_steps::begin<V>{}, p, r), at(rz));
    s_.scalars(reset{it_.slots()});
  }

  /// One iteration, enqueued.
  void step() {
    using namespace cg_scalars;
    using cg_steps::advance;
    using cg_steps::shrink;
    const guarded_quotient alpha{at(rz), at(pq)}, beta{at(rz_next), at(rz)};
    const auto x = both(x_), p = both(as_view(p_)), r = both(it_.r());
    const auto q = in(as_view(q_)), z = in(stored() ? as_view(z_) : it_.r());
    a_.apply_dot(as_view(p_), as_view(q_), at(pq)); // q = A p,  p'q
    if (stored()) {
      s_.sweep(n_, pass(cg_steps::shrink_alone<V>{alpha}, r, q), at(control::rr)); // r -= alpha q,  r'r
      m_.apply(it_.r(), as_view(z_));                                              // z = M r
      s_.dot(it_.r(), as_view(z_), at(rz_next));                                   // r'z
      s_.sweep(n_, pass(cg_steps::advance_stored<V>{alpha, beta}, x, p, z),
               at(pp_next)); // x += alpha p, p = z + beta p
    } else if (what_ == kind::diagonal) {
      const auto d = in(m_.diagonal());
      s_.sweep(n_, pass(shrink<V>{alpha}, r, q, d), at(control::rr), at(rz_next)); // r -= alpha q,  r'r,  r'z
      s_.sweep(n_, pass(advance<V>{alpha, beta}, x, p, z, d));                     // x += alpha p,  p = d r + beta p
    } else {
      s_.sweep(n_, pass(shrink<V>{alpha}, r, q), at(control::rr), at(rz_next));
      s_.sweep(n_, pass(advance<V>{alpha, beta}, x, p, z));
    }
  }

  /// |fl(p'Ap) - p'Ap| <= (row length + log2 n + a few) u |p|'|A||p|, where |p|'|A||p| is at most |A|_inf p'p, and for
  /// M = D^-1 at most (row length) p'D p, for |a_ij|^2 <= a_ii a_jj of a positive definite matrix.
  double rounding(const linear_system<V>& system) const {
    const double length = double(system.longest_row);
    return (length + 64) * (std::numeric_limits<V>::epsilon() / 2) *
           (what_ == kind::diagonal ? length : system.norm_inf);
  }

  /// What the passes of an iteration must move.
  double bytes_per_iteration() const {
    const double vector = double(n_) * sizeof(V);
    if (stored()) return a_.bytes_per_apply() + m_.stored_bytes() + vector * (3 + 2 + 2 + 5);
    return a_.bytes_per_apply() + vector * (3 + 5) + (what_ == kind::diagonal ? 2 * vector : 0);
  }

  S& s_;
  const any_operator<V>& a_;
  const any_preconditioner<V>& m_;
  view<V> x_;
  index_t n_;
  kind what_;
  iteration<S> it_;
  decltype(s_.make(0)) p_, q_, z_;
  cg_scalars::judge judge_;
};

struct cg_method {
  static constexpr std::string_view name = "cg";
  template <vector_space S>
  static solve_report run(S& space, const linear_system<value_of<S>>& system, const solve_options& options) {
    return conjugate_gradients<S>(space, system, options).run();
  }
};

} // namespace furrow
