// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "steps.hpp"

#include "solvers/method.hpp"

namespace furrow {

namespace tfqmr_messages {
/// The end that a verdict of TFQMR means. `patient`: empty for one that starting again may mend.
std::optional<ending> explain(int verdict, const double* slots, bool patient);
} // namespace tfqmr_messages

/// TFQMR, preconditioned from the right: A x = b for any square A, without products with A', written once for every
/// space. A step is two half steps of the textbook:
///
///   g = A M u;  v = g + beta (f + beta v);  alpha = r~'w / r~'v
///   d = M u + (theta^2 eta / alpha) d;  w -= alpha g;  rotate;  x += eta d;  r = s^2 r + c^2 w;  u -= alpha v
///   f = A M u;  d = M u + s^2 d;        w -= alpha f;  rotate;  x += eta d;  r = s^2 r + c^2 w
///   beta = r~'w / (r~'w)_old;  u = w + beta u
///   rotate: theta = |w| / tau;  c^2 = 1 / (1 + theta^2);  s^2 = 1 - c^2;  tau *= theta c;  eta = c^2 alpha
///
/// w is the residual of conjugate gradients squared, which leaps; x is smoothed so that a bound of |r| falls. r is that
/// of x, whatever M is: the smoothing of x is one of r with the same weights (L. Zhou, H. F. Walker, Residual smoothing
/// techniques for iterative methods, 1994). Allocates r~, w, u, v, g, f, d, and M u where M is not the identity, beside
/// what `iteration` takes. Cost of a step: two products, and passes over 5 (v), 8 (u, w, d), 6 (r, w) and 9 (x, d, r,
/// u) vectors; a diagonal M adds 6, another one its two applications and 2. Where r~'w or r~'v is nothing beside the
/// norms of its factors it starts again. The same bits on every run with the same build and device. R. W. Freund, A
/// transpose-free quasi-minimal residual algorithm for non-Hermitian linear systems, 1993; Y. Saad, Iterative Methods
/// for Sparse Linear Systems, 2nd ed., algorithm 7.8.
template <vector_space S> class transpose_free_qmr : method<S> {
  using base = method<S>;
  using base::s_, base::a_, base::m_, base::x_, base::n_, base::it_, base::at, base::plain, base::diagonal,
      base::stored;
  using typename base::V;

public:
  transpose_free_qmr(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, tfqmr_steps::slot_count), shadow_(base::make()), w_(base::make()),
        u_(base::make()), v_(base::make()), g_(base::make()), f_(base::make()), d_(base::make()),
        h_(base::make(!plain())) {}

  solve_report run() { return base::run_iteration(*this); }

  void start() {
    using namespace tfqmr_steps;
    const auto shadow = out(as_view(shadow_)), w = out(as_view(w_)), u = out(as_view(u_)), v = out(as_view(v_)),
               f = out(as_view(f_)), d = out(as_view(d_));
    const auto r = in(it_.r());
    if (diagonal())
      s_.sweep(n_, pass(begin<V>{}, shadow, w, u, v, f, d, out(as_view(h_)), r, in(m_.diagonal())), at(rho));
    else s_.sweep(n_, pass(begin<V>{}, shadow, w, u, v, f, d, r), at(rho));
    if (stored()) m_.apply(as_view(u_), as_view(h_));
    s_.scalars(reset{it_.slots()});
  }

  void step() {
    using namespace tfqmr_steps;
    const auto w = both(as_view(w_)), u = both(as_view(u_)), d = both(as_view(d_)), x = both(x_), r = both(it_.r());
    const auto v = in(as_view(v_)), g = in(as_view(g_)), f = in(as_view(f_)), shadow = in(as_view(shadow_)),
               residue = in(as_view(w_));
    const quotient alpha{at(rho), at(sigma)};
    a_.apply(V(1), mu(), V(0), as_view(g_));
    s_.sweep(n_, pass(tfqmr_steps::turn<V>{at(beta)}, both(as_view(v_)), g, f, shadow), at(sigma), at(vv));
    const half_step<V> half{alpha, {at(sigma), at(rho)}, at(carry)};
    if (diagonal()) s_.sweep(n_, pass(half, u, w, d, both(as_view(h_)), v, g, in(m_.diagonal())), at(ww));
    else if (stored()) s_.sweep(n_, pass(half, u, w, d, v, g, in(as_view(h_))), at(ww));
    else s_.sweep(n_, pass(half, u, w, d, v, g), at(ww));
    if (stored()) m_.apply(as_view(u_), as_view(h_));
    s_.scalars(rotate{it_.slots(), 0});
    a_.apply(V(1), mu(), V(0), as_view(f_));
    s_.sweep(n_, pass(smooth<V>{alpha, at(keep), at(take)}, r, w, f, shadow), at(ww), at(rho_next));
    s_.scalars(rotate{it_.slots(), 1});
    const full_step<V> full{at(eta), at(keep), at(eta_2), at(keep_2), at(take_2), at(beta)};
    if (diagonal())
      s_.sweep(n_, pass(full, x, d, r, u, both(as_view(h_)), residue, in(m_.diagonal())), at(control::rr));
    else if (stored()) s_.sweep(n_, pass(full, x, d, r, u, residue, in(as_view(h_))), at(control::rr));
    else s_.sweep(n_, pass(full, x, d, r, u, residue), at(control::rr));
    if (stored()) m_.apply(as_view(u_), as_view(h_));
  }

  tfqmr_steps::judge judge() { return tfqmr_steps::judge{it_.slots(), std::numeric_limits<V>::epsilon() / 2}; }
  static std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return tfqmr_messages::explain(verdict, slots, patient);
  }

  double bytes_per_iteration() const {
    return 2 * a_.bytes_per_apply() + base::vectors(28 + (diagonal() ? 6 : 0) + (stored() ? 2 + 2 * 2 : 0)) +
           (stored() ? 2 * m_.stored_bytes() : 0);
  }

private:
  view<V> mu() { return as_view(plain() ? u_ : h_); }

  typename base::array shadow_, w_, u_, v_, g_, f_, d_, h_;
};

struct tfqmr_method {
  static constexpr std::string_view name = "tfqmr";
  template <vector_space S> using solver = transpose_free_qmr<S>;
};

} // namespace furrow
