// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "steps.hpp"

#include "solvers/method.hpp"

namespace furrow {

namespace fcg_messages {
/// The end that a verdict of FCG means. `patient`: empty for one that starting again may mend. `is_indefinite`: says of
/// a p'Ap that is 0 whether A p is not.
std::optional<ending> explain(int verdict, const double* slots, bool patient,
                              const std::function<bool()>& is_indefinite);
} // namespace fcg_messages

/// Flexible conjugate gradients: A x = b for symmetric positive definite A, where M may be another positive definite
/// one in each step, written once for every space.
///
///   q = A p;  alpha = r'z / p'q;  x += alpha p;  r -= alpha q;  z = M r;  beta = -z'q / p'q;  p = z + beta p
///
/// beta is z'(r - r_old) / (r'z)_old of Polak and Ribiere, with q for the difference of the residuals: r_old need not
/// be kept, and p is conjugate to the one before whatever M was. With an M that stays the steps are those of cg.
/// Allocates p, q, and z where M is neither the identity nor a diagonal, beside what `iteration` takes.
/// Cost of a step: one product with A fused with p'q, and two passes: r (3 vectors) and x, p (5 vectors); a diagonal M
/// adds one vector to each, another one its application, and 3 vectors for r'z, z'q.
/// The same bits on every run with the same build and device.
/// Y. Notay, Flexible conjugate gradients, 2000, with a truncation of one direction.
template <vector_space S> class flexible_conjugate_gradients : method<S> {
  using base = method<S>;
  using base::s_, base::a_, base::m_, base::x_, base::n_, base::it_, base::at, base::stored, base::diagonal;
  using typename base::V;

public:
  flexible_conjugate_gradients(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, fcg_steps::slot_count), p_(base::make()), q_(base::make()),
        z_(base::make(stored())) {}

  solve_report run() { return base::run_iteration(*this); }

  void start() {
    using namespace fcg_steps;
    const view<V> z = base::precondition(it_.r(), as_view(stored() ? z_ : q_));
    s_.sweep(n_, pass(begin<V>{}, out(as_view(p_)), in(it_.r()), in(z)), at(rz), at(pp));
    s_.scalars(reset{it_.slots()});
  }

  void step() {
    using namespace fcg_steps;
    const guarded_quotient alpha{at(rz), at(pq)};
    const auto x = both(x_), p = both(as_view(p_)), r = both(it_.r());
    const auto q = in(as_view(q_)), z = in(stored() ? as_view(z_) : it_.r());
    const slot rr = at(control::rr);
    a_.apply_dot(as_view(p_), as_view(q_), at(pq)); // q = A p,  p'q
    if (stored()) {
      s_.sweep(n_, pass(shrink<V>{alpha}, r, q), rr); // r -= alpha q,  r'r
      m_.apply(it_.r(), as_view(z_));                 // z = M r
      s_.sweep(n_, pass(measure_products<V>{}, in(it_.r()), q, z), at(rz_next), at(zq));
    } else if (diagonal()) s_.sweep(n_, pass(shrink<V>{alpha}, r, q, in(m_.diagonal())), rr, at(rz_next), at(zq));
    else s_.sweep(n_, pass(shrink<V>{alpha}, r, q), rr, at(rz_next), at(zq));
    s_.scalars(fcg_steps::turn{it_.slots()});
    const advance<V> go{alpha, at(beta)}; // x += alpha p,  p = z + beta p
    if (diagonal()) s_.sweep(n_, pass(go, x, p, z, in(m_.diagonal())), at(pp_next));
    else s_.sweep(n_, pass(go, x, p, z), at(pp_next));
  }

  fcg_steps::judge judge() {
    const double unit = std::numeric_limits<V>::epsilon() / 2;
    return {it_.slots(), (double(base::system_.longest_row) + 64) * unit * base::system_.norm_inf, unit};
  }
  /// Of a semidefinite A |A p|^2 is at most |A| p'A p: more than that, where p'A p is 0, shows an indefinite one.
  std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return fcg_messages::explain(verdict, slots, patient, [&] {
      s_.dot(as_view(q_), as_view(q_), at(fcg_steps::pq));
      return s_.read(at(fcg_steps::pq)) > base::system_.norm_inf * judge().rounding * slots[fcg_steps::pp];
    });
  }

  double bytes_per_iteration() const {
    if (stored()) return a_.bytes_per_apply() + base::bytes_of_precondition() + base::vectors(3 + 3 + 5);
    return a_.bytes_per_apply() + base::vectors(diagonal() ? 4 + 6 : 3 + 5);
  }

private:
  typename base::array p_, q_, z_;
};

struct fcg_method {
  static constexpr std::string_view name = "fcg";
  template <vector_space S> using solver = flexible_conjugate_gradients<S>;
};

} // namespace furrow
