// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "steps.hpp"

#include "solvers/method.hpp"

namespace furrow {

namespace cr_messages {
/// The end that a verdict of CR means. `patient`: empty for one that starting again may mend.
std::optional<ending> explain(int verdict, const double* slots, bool patient);
} // namespace cr_messages

/// Preconditioned conjugate residuals: A x = b for symmetric A and symmetric positive definite M, written once for
/// every space.
///
///   alpha = z'w / q'M q;  x += alpha p;  r -= alpha q;  z -= alpha M q;  w = A z;  beta = z'w / (z'w)_old;
///   p = z + beta p;  q = w + beta q          (z = M r, w = A z, q = A p)
///
/// These are conjugate residuals for L'A L y = L'b where M = L L'. r'M r, which is |r|^2 without M, is the least over
/// the Krylov space and cannot grow where A is definite. An indefinite A may make z'A z vanish: minres is for it.
/// Allocates p, q, w, z where M is not the identity, and M q where M is no diagonal, beside what `iteration` takes.
/// Cost of a step: one product with A fused with z'w, and two passes: x, r (6 vectors) and p, q (6); a diagonal M adds
/// 3 vectors, another one its application to q, and 5. The same bits on every run with the same build and device. E.
/// Stiefel, 1955; Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 6.20.
template <vector_space S> class conjugate_residuals : method<S> {
  using base = method<S>;
  using base::s_, base::a_, base::m_, base::x_, base::n_, base::it_, base::at, base::plain, base::stored,
      base::diagonal;
  using typename base::V;

public:
  conjugate_residuals(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, cr_steps::slot_count), p_(base::make()), q_(base::make()), w_(base::make()),
        z_(base::make(!plain())), mq_(base::make(stored())) {}

  solve_report run() { return base::run_iteration(*this); }

  void start() {
    base::precondition(it_.r(), as_view(z_));
    a_.apply_dot(z(), as_view(w_), at(cr_steps::rho)); // w = A z,  z'w
    make_direction(cr_steps::begin<V>{}, out(as_view(p_)), out(as_view(q_)), at(cr_steps::qq));
  }

  void step() {
    using namespace cr_steps;
    const advance<V> go{{at(rho), at(qq)}};
    const auto x = both(x_), r = both(it_.r());
    const auto p = in(as_view(p_)), q = in(as_view(q_));
    if (plain()) s_.sweep(n_, pass(go, x, r, p, q), at(control::rr));
    else if (diagonal()) s_.sweep(n_, pass(go, x, r, p, q, out(z()), in(m_.diagonal())), at(control::rr));
    else s_.sweep(n_, pass(advance_stored<V>{go}, x, r, p, q, both(z()), in(as_view(mq_))), at(control::rr));
    a_.apply_dot(z(), as_view(w_), at(rho_next)); // w = A z,  z'w
    make_direction(turn<V>{{at(rho_next), at(rho)}}, both(as_view(p_)), both(as_view(q_)), at(qq_next));
  }

  cr_steps::judge judge() { return cr_steps::judge{it_.slots()}; }
  static std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return cr_messages::explain(verdict, slots, patient);
  }

  double bytes_per_iteration() const {
    double total = a_.bytes_per_apply() + base::vectors(6 + 6);
    if (diagonal()) total += base::vectors(3);
    if (stored()) total += base::vectors(3 + 2) + base::bytes_of_precondition();
    return total;
  }

private:
  view<V> z() { return plain() ? it_.r() : as_view(z_); }

  /// p and q of the next step, and q'M q.
  template <class Step, class Vector> void make_direction(Step step, Vector p, Vector q, slot qmq) {
    const auto z_now = in(z()), w = in(as_view(w_));
    if (plain()) s_.sweep(n_, pass(step, p, q, z_now, w), qmq);
    else if (diagonal()) s_.sweep(n_, pass(step, p, q, z_now, w, in(m_.diagonal())), qmq);
    else {
      s_.sweep(n_, pass(step, p, q, z_now, w));
      m_.apply(as_view(q_), as_view(mq_));
      s_.dot(as_view(q_), as_view(mq_), qmq);
    }
  }

  typename base::array p_, q_, w_, z_, mq_;
};

struct cr_method {
  static constexpr std::string_view name = "cr";
  template <vector_space S> using solver = conjugate_residuals<S>;
};

} // namespace furrow
