// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "steps.hpp"

#include "solvers/method.hpp"

namespace furrow {

namespace tfqmr_messages {
/// The end that a verdict of TFQMR means. `patient`: empty for one that starting again may mend.
std::optional<ending> explain(int verdict, const double* slots, bool patient);
} // namespace tfqmr_messages

/// TFQMR, transpose-free quasi-minimal residuals, preconditioned from the right: A x = b for any square A, written once
/// for every space. A step, with alpha = rho / r~'v, is twice
///
///   w -= alpha A M u;  d = M u + (theta^2 eta / alpha) d;  theta = |w| / tau;  c^2 = 1 / (1 + theta^2);
///   tau *= theta c;  eta = c^2 alpha;  x += eta d;  r += c^2 (w - r)
///
/// first with u, then with u - alpha v; then beta = r~'w / rho;  u = w + beta u;  v = A M u + beta (A M u_old + beta
/// v). w is a residual of conjugate gradients squared, and d points from x to its iterate; so the same c^2 that moves x
/// moves r, and |r| is that of x, not the quasi-residual's bound sqrt(2 k + 1) tau: no product more, no vector of
/// A M d kept. The curve is smooth where that of bicgstab is not. Allocates r~, w, u, v, d, two of A M u, and M u where
/// M is not the identity, beside what `iteration` takes. Cost of a step: two products, and passes over 8 (w, d, u), 11
/// (x, r, w, d), 8 (x, r, u) and 5 (v) vectors; a diagonal M adds 5, another one 1 and its two applications. The same
/// bits on every run with the same build and device.
/// R. W. Freund, A transpose-free quasi-minimal residual algorithm, 1993; r as in L. Zhou, H. F. Walker, Residual
/// smoothing techniques for iterative methods, 1994; Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed.,
/// algorithm 7.8.
template <vector_space S> class transpose_free_qmr : method<S> {
  using base = method<S>;
  using base::s_, base::a_, base::m_, base::x_, base::n_, base::it_, base::at, base::plain, base::diagonal,
      base::stored;
  using typename base::V;

public:
  transpose_free_qmr(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, tfqmr_steps::slot_count), shadow_(base::make()), w_(base::make()),
        u_(base::make()), v_(base::make()), d_(base::make()), y_(base::make()), y_half_(base::make()),
        mu_(base::make(!plain())) {}

  solve_report run() { return base::run_iteration(*this); }

  void start() {
    using namespace tfqmr_steps;
    const auto shadow = out(as_view(shadow_)), w = out(as_view(w_)), u = out(as_view(u_)), d = out(as_view(d_));
    const auto r = in(it_.r());
    if (diagonal()) s_.sweep(n_, pass(begin<V>{}, shadow, w, u, d, out(mu()), r, in(m_.diagonal())));
    else s_.sweep(n_, pass(begin<V>{}, shadow, w, u, d, r));
    multiply(as_view(y_));
    s_.sweep(n_, pass(begin_turn<V>{}, out(as_view(v_)), in(as_view(y_)), in(as_view(shadow_))), at(sigma));
    s_.scalars(begin_scalars{it_.slots()});
  }

  void step() {
    using namespace tfqmr_steps;
    const auto x = both(x_), r = both(it_.r()), w = both(as_view(w_)), d = both(as_view(d_)), u = both(as_view(u_));
    const auto y = in(as_view(y_)), y_half = in(as_view(y_half_)), v = in(as_view(v_)), shadow = in(as_view(shadow_));
    const first_half<V> first{at(alpha), at(turned)};
    const second_half<V> second{at(alpha), at(turned), at(eta), at(weight)};
    const finish<V> last{at(eta), at(weight), at(beta)};

    s_.scalars(open_step{it_.slots()});
    if (plain()) s_.sweep(n_, pass(first, w, d, u, y, v), at(ww));
    else if (diagonal()) s_.sweep(n_, pass(first, w, d, u, y, v, both(mu()), in(m_.diagonal())), at(ww));
    else s_.sweep(n_, pass(first, w, d, u, y, v, in(mu())), at(ww));
    s_.scalars(rotate{it_.slots()});
    multiply(as_view(y_half_)); // A M (u - alpha v)
    s_.sweep(n_, pass(second, x, r, w, d, y_half, in(mu()), shadow), at(ww), at(rho_next));
    s_.scalars(rotate{it_.slots()});
    if (diagonal())
      s_.sweep(n_, pass(last, x, r, u, in(as_view(d_)), in(as_view(w_)), out(mu()), in(m_.diagonal())),
               at(control::rr));
    else s_.sweep(n_, pass(last, x, r, u, in(as_view(d_)), in(as_view(w_))), at(control::rr));
    multiply(as_view(y_)); // A M u
    s_.sweep(n_, pass(turn<V>{at(beta)}, both(as_view(v_)), y, y_half, shadow), at(sigma));
  }

  tfqmr_steps::judge judge() { return tfqmr_steps::judge{it_.slots()}; }
  static std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return tfqmr_messages::explain(verdict, slots, patient);
  }

  double bytes_per_iteration() const {
    double total = 2 * a_.bytes_per_apply() + base::vectors(8 + 11 + 8 + 5);
    if (diagonal()) total += base::vectors(3 + 2);
    if (stored()) total += base::vectors(1) + 2 * base::bytes_of_precondition();
    return total;
  }

private:
  view<V> mu() { return as_view(plain() ? u_ : mu_); }
  /// y = A M u.
  void multiply(view<V> y) {
    if (stored()) m_.apply(as_view(u_), mu());
    a_.apply(V(1), mu(), V(0), y);
  }

  typename base::array shadow_, w_, u_, v_, d_, y_, y_half_, mu_;
};

struct tfqmr_method {
  static constexpr std::string_view name = "tfqmr";
  template <vector_space S> using solver = transpose_free_qmr<S>;
};

} // namespace furrow
