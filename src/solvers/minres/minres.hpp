// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "steps.hpp"

#include "solvers/method.hpp"

namespace furrow {

namespace minres_messages {
/// The end that a verdict of MINRES means. `patient`: empty for one that starting again may mend.
std::optional<ending> explain(int verdict, const double* slots, bool patient);
} // namespace minres_messages

/// MINRES: A x = b for symmetric A, definite or not, and symmetric positive definite M, written once for every space.
///
///   q = A v;  alfa = v'q;  r2 = q - (alfa / beta) r2 - (beta / old_beta) r1;  beta = sqrt(r2'M r2)
///   one reflection of the tridiagonal matrix;  w = (v - old_epsln w_old - delta w) / gamma;  x += phi w
///   r = sn^2 r - (phibar cs / beta) r2;  v = M r2 / beta
///
/// Makes r'M r least over the Krylov space; r itself is carried along, so that the goal is held against |b - A x|
/// whatever M is. Allocates r1, r2, v, q, w, w_old, and M r2 where M is neither the identity nor a diagonal, beside
/// what `iteration` takes. Cost of a step: one product with A fused with v'q, and two passes, over 5 and 11 vectors; a
/// diagonal M adds 2, another one its application and 3.
/// Where A r vanishes and r does not, or x grows without end, A is singular, b not in its range, and x close to a
/// least-squares answer (for M = I).
/// The same bits on every run with the same build and device.
/// C. C. Paige, M. A. Saunders, Solution of sparse indefinite systems of linear equations, 1975; the recurrence of r:
/// S.-C. T. Choi, C. C. Paige, M. A. Saunders, MINRES-QLP, 2011, (3.7).
template <vector_space S> class minimal_residual : method<S> {
  using base = method<S>;
  using base::s_, base::a_, base::m_, base::x_, base::n_, base::it_, base::at, base::stored, base::diagonal;
  using typename base::V;

public:
  minimal_residual(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, minres_steps::slot_count), r1_(base::make()), r2_(base::make()), v_(base::make()),
        q_(base::make()), w_(base::make()), w_old_(base::make()), z_(base::make(stored())) {}

  solve_report run() { return base::run_iteration(*this); }

  void start() {
    using namespace minres_steps;
    const auto r1 = out(as_view(r1_)), r2 = out(as_view(r2_)), w = out(as_view(w_)), w_old = out(as_view(w_old_)),
               v = out(as_view(v_));
    const auto r = in(it_.r());
    if (diagonal()) s_.sweep(n_, pass(begin<V>{}, r1, r2, w, w_old, r, in(m_.diagonal())), at(squares));
    else s_.sweep(n_, pass(begin<V>{}, r1, r2, w, w_old, r), at(squares));
    if (stored()) {
      m_.apply(it_.r(), as_view(z_));
      s_.dot(it_.r(), as_view(z_), at(squares));
    }
    s_.dot(x_, x_, at(xx_first));
    s_.scalars(reset{it_.slots()});
    const scale<V> by{{at(one), at(beta)}};
    if (diagonal()) s_.sweep(n_, pass(by, v, r, in(m_.diagonal())));
    else s_.sweep(n_, pass(by, v, in(stored() ? as_view(z_) : it_.r())));
  }

  void step() {
    using namespace minres_steps;
    const auto r1 = both(as_view(r1_)), r2 = both(as_view(r2_));
    const auto q = in(as_view(q_));
    a_.apply_dot(as_view(v_), as_view(q_), at(alfa)); // q = A v,  v'q
    const extend<V> next{{at(beta), at(old_beta)}, {at(alfa), at(beta)}};
    if (stored()) {
      s_.sweep(n_, pass(next, r1, r2, q));
      m_.apply(as_view(r2_), as_view(z_));
      s_.dot(as_view(r2_), as_view(z_), at(squares));
    } else if (diagonal()) s_.sweep(n_, pass(next, r1, r2, q, in(m_.diagonal())), at(squares));
    else s_.sweep(n_, pass(next, r1, r2, q), at(squares));
    s_.scalars(reflect{it_.slots(), rounding()});
    if (stored()) move<false>(in(as_view(z_)));
    else if (diagonal()) move<true>(in(m_.diagonal()));
    else move<false>();
  }

  minres_steps::judge judge() {
    return minres_steps::judge{it_.slots(), base::system_.norm_2 * (std::numeric_limits<V>::epsilon() / 2)};
  }
  static std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return minres_messages::explain(verdict, slots, patient);
  }

  double bytes_per_iteration() const {
    return a_.bytes_per_apply() + base::vectors(16 + (diagonal() ? 2 : 0) + (stored() ? 2 + 2 + 1 : 0)) +
           (stored() ? m_.stored_bytes() : 0);
  }

private:
  /// The pass over w, x, r and v; `m`: what M r2 is made of.
  template <bool by_diagonal, class... M> void move(M... m) {
    using namespace minres_steps;
    const advance<V, by_diagonal> next{at(old_epsln),        at(delta),          at(phi), at(shrinks), at(turns),
                                       {at(one), at(gamma)}, {at(one), at(beta)}};
    s_.sweep(n_,
             pass(next, both(as_view(v_)), both(as_view(w_)), both(as_view(w_old_)), both(x_), both(it_.r()),
                  in(as_view(r2_)), m...),
             at(control::rr), at(xx));
  }
  /// Of the product and of the sums that make a column.
  double rounding() const { return (double(base::system_.longest_row) + 64) * (std::numeric_limits<V>::epsilon() / 2); }

  typename base::array r1_, r2_, v_, q_, w_, w_old_, z_;
};

struct minres_method {
  static constexpr std::string_view name = "minres";
  template <vector_space S> using solver = minimal_residual<S>;
};

} // namespace furrow
