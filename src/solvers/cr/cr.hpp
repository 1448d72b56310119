// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "steps.hpp"

#include "solvers/method.hpp"

namespace furrow {

namespace cr_messages {
/// The end that a verdict of conjugate residuals means. `patient`: empty for one that starting again may mend.
std::optional<ending> explain(int verdict, const double* slots, bool patient);
} // namespace cr_messages

/// Conjugate residuals: A x = b for symmetric A and symmetric positive definite M, written once for every space.
///
///   w = A z;  beta = z'w / (z'w)_old;  p = z + beta p;  q = w + beta q  (= A p)
///   y = M q;  alpha = z'w / q'y;  x += alpha p;  r -= alpha q;  z -= alpha y  (= M r)
///
/// Makes r'M r least over the Krylov space, as MINRES does, with fewer vectors; |r| never grows where M = I. Meant for
/// definite A of either sign: where A is indefinite z'w may vanish, and MINRES goes on where this method cannot.
/// A stored z drifts from M r by the rounding of M, which may be one in single precision: whenever |r| is a thousandth
/// of what it was, r and z are worked out anew, a product, an application of M and a wait, and the directions stay.
/// Allocates p, q, w, z where M is not the identity, and y where it is not a diagonal either, beside what `iteration`
/// takes. Cost of a step: one product with A fused with z'w, and two passes, over 6 vectors each; a diagonal M adds 3,
/// another one its application and 5. The same bits on every run with the same build and device.
/// E. Stiefel, Relaxationsmethoden bester Strategie zur Loesung linearer Gleichungssysteme, 1955; Y. Saad, Iterative
/// Methods for Sparse Linear Systems, 2nd ed., algorithm 6.20.
template <vector_space S> class conjugate_residuals : method<S> {
  using base = method<S>;
  using base::s_, base::a_, base::m_, base::x_, base::n_, base::it_, base::at, base::plain, base::stored,
      base::diagonal;
  using typename base::V;

public:
  conjugate_residuals(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, cr_steps::slot_count), p_(base::make()), q_(base::make()), w_(base::make()),
        z_(base::make(!plain())), y_(base::make(stored())) {}

  solve_report run() { return base::run_iteration(*this); }

  void start() {
    using namespace cr_steps;
    const auto p = out(as_view(p_)), q = out(as_view(q_));
    const bool first = !std::exchange(begun_, true) || int(it_.last_slots()[control::why]) != control::cycle_ended;
    if (stored()) m_.apply(it_.r(), z());
    if (!first) s_.dot(z(), z(), at(zz));
    else if (diagonal()) s_.sweep(n_, pass(begin<V>{}, p, q, out(z()), in(it_.r()), in(m_.diagonal())), at(zz));
    else s_.sweep(n_, pass(begin<V>{}, p, q, in(z())), at(zz));
    s_.dot(x_, x_, at(xx_first));
    s_.scalars(reset{it_.slots(), first});
  }

  void step() {
    using namespace cr_steps;
    const cr_steps::turn<V> next{{at(zaz), at(zaz_old)}};
    const guarded_quotient alpha{at(zaz), at(qmq)};
    const auto p = both(as_view(p_)), q = both(as_view(q_)), x = both(x_), r = both(it_.r());
    const auto w = in(as_view(w_)), along = in(as_view(p_)), aside = in(as_view(q_));
    a_.apply_dot(z(), as_view(w_), at(zaz)); // w = A z,  z'w
    if (stored()) {
      s_.sweep(n_, pass(next, p, q, in(z()), w), at(ww));
      m_.apply(as_view(q_), as_view(y_));
      s_.dot(as_view(q_), as_view(y_), at(qmq));
      s_.sweep(n_, pass(advance<V>{alpha}, x, r, both(z()), along, aside, in(as_view(y_))), at(control::rr),
               at(zz_next), at(xx));
    } else if (diagonal()) {
      const auto d = in(m_.diagonal());
      s_.sweep(n_, pass(next, p, q, in(z()), w, d), at(ww), at(qmq));
      s_.sweep(n_, pass(advance<V, true>{alpha}, x, r, out(z()), along, aside, d), at(control::rr), at(zz_next),
               at(xx));
    } else {
      s_.sweep(n_, pass(next, p, q, in(z()), w), at(ww), at(qmq));
      s_.sweep(n_, pass(advance<V>{alpha}, x, r, along, aside), at(control::rr), at(zz_next), at(xx));
    }
  }

  cr_steps::judge judge() {
    return cr_steps::judge{it_.slots(), std::numeric_limits<V>::epsilon() / 2, base::system_.norm_2, stored()};
  }
  static std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return cr_messages::explain(verdict, slots, patient);
  }

  double bytes_per_iteration() const {
    return a_.bytes_per_apply() + base::vectors(12 + (diagonal() ? 3 : 0) + (stored() ? 2 + 2 + 3 : 0)) +
           (stored() ? m_.stored_bytes() : 0);
  }

private:
  view<V> z() { return plain() ? it_.r() : as_view(z_); }

  typename base::array p_, q_, w_, z_, y_;
  bool begun_ = false;
};

struct cr_method {
  static constexpr std::string_view name = "cr";
  template <vector_space S> using solver = conjugate_residuals<S>;
};

} // namespace furrow
