// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "steps.hpp"

#include "solvers/iteration.hpp"

namespace furrow {

namespace bicgstab_messages {
/// The end that a verdict of BiCGStab means. `patient`: empty for one that starting again may mend.
std::optional<ending> explain(int verdict, const double* slots, bool patient);
} // namespace bicgstab_messages

/// BiCGStab, preconditioned from the right: A x = b for any square A, written once for every space.
///
///   p^ = M p;  v = A p^;  alpha = rho / r~'v;  s = r - alpha v;  s^ = M s;  t = A s^;  omega = t's / t't
///   x += alpha p^ + omega s^;  r = s - omega t;  beta = (r~'r / rho) (alpha / omega);  p = r + beta (p - omega v)
///
/// The residual is that of A x = b, whatever M is. Allocates r~, p, v, t, and p^, s^ where M is not the identity,
/// beside what `iteration` takes. Cost of a step: two products, and passes over 2 (r~'v), 3 (s), 2 (t's, t't), 7 (x, r)
/// and 4 (p) vectors; a diagonal M adds 5, another one its two applications. The residual is
/// not monotone: behind a hump r is worked out anew, a product more. Where r becomes orthogonal to r~ or omega
/// vanishes, it starts again from the residual at hand. H. A. van der Vorst, Bi-CGSTAB, 1992; Y. Saad, Iterative
/// Methods for Sparse Linear Systems, 2nd ed., algorithm 7.7.
template <vector_space S> class stabilised_bicg {
  using V = value_of<S>;
  using kind = typename any_preconditioner<V>::kind;

public:
  stabilised_bicg(S& space, const linear_system<V>& system, const solve_options& options)
      : s_(space), a_(system.a), m_(system.m), x_(system.x), n_(system.b.size), what_(m_.what()),
        it_(space, system, options, bicgstab_steps::slot_count), shadow_(space.make(n_)), p_(space.make(n_)),
        v_(space.make(n_)), t_(space.make(n_)), mp_(space.make(plain() ? 0 : n_)), ms_(space.make(plain() ? 0 : n_)) {}

  solve_report run() {
    const bicgstab_steps::judge judge{it_.slots()};
    it_.replace_residual_behind_humps();
    solve_report report = it_.run([this] { start(); }, [this] { step(); }, judge, bicgstab_messages::explain);
    report.bytes_per_iteration = bytes_per_iteration();
    return report;
  }

private:
  bool plain() const { return what_ == kind::identity; }
  bool diagonal() const { return what_ == kind::diagonal; }
  slot at(int name) { return it_.at(name); }
  view<V> p_hat() { return as_view(plain() ? p_ : mp_); }
  view<V> s_hat() { return plain() ? it_.r() : as_view(ms_); }

  void start() {
    using namespace bicgstab_steps;
    const auto shadow = out(as_view(shadow_)), p = out(as_view(p_)), scaled = out(as_view(mp_));
    const auto r = in(it_.r());
    if (diagonal()) s_.sweep(n_, pass(begin<V>{}, shadow, p, scaled, r, in(m_.diagonal())), at(rho));
    else s_.sweep(n_, pass(begin<V>{}, shadow, p, r), at(rho));
    if (what_ == kind::general) m_.apply(as_view(p_), as_view(mp_));
  }

  void step() {
    using namespace bicgstab_steps;
    const quotient alpha{at(rho), at(sigma)}, omega{at(ts), at(tt)}, ratio{at(rho_next), at(rho)};
    const auto p = both(as_view(p_)), r = both(it_.r());
    const auto s = in(it_.r());
    const auto v = in(as_view(v_)), t = in(as_view(t_)), shadow = in(as_view(shadow_));

    a_.apply(V(1), p_hat(), V(0), as_view(v_));       // v = A p^
    s_.dot(as_view(shadow_), as_view(v_), at(sigma)); // r~'v
    if (diagonal()) s_.sweep(n_, pass(half_step<V>{alpha}, r, out(s_hat()), v, in(m_.diagonal())));
    else s_.sweep(n_, pass(half_step<V>{alpha}, r, v));          // s = r - alpha v
    if (what_ == kind::general) m_.apply(it_.r(), s_hat());      // s^ = M s
    a_.apply(V(1), s_hat(), V(0), as_view(t_));                  // t = A s^
    s_.sweep(n_, pass(measure_step<V>{}, t, s), at(ts), at(tt)); // t's,  t't
    const full_step<V> full{alpha, omega};                       // x += alpha p^ + omega s^,  r = s - omega t
    if (plain()) s_.sweep(n_, pass(full, both(x_), r, in(p_hat()), t, shadow), at(control::rr), at(rho_next));
    else s_.sweep(n_, pass(full, both(x_), r, in(p_hat()), in(s_hat()), t, shadow), at(control::rr), at(rho_next));
    if (diagonal()) s_.sweep(n_, pass(turn<V>{alpha, omega, ratio}, p, out(p_hat()), s, v, in(m_.diagonal())));
    else s_.sweep(n_, pass(turn<V>{alpha, omega, ratio}, p, s, v)); // p = r + beta (p - omega v)
    if (what_ == kind::general) m_.apply(as_view(p_), p_hat());
  }

  double bytes_per_iteration() const {
    const double vector = double(n_) * sizeof(V);
    double total = 2 * a_.bytes_per_apply() + vector * (2 + 3 + 2 + 7 + 4);
    if (diagonal()) total += vector * 5;
    if (what_ == kind::general) total += vector * (1 + 2 * 2) + 2 * m_.stored_bytes();
    return total;
  }

  S& s_;
  const any_operator<V>& a_;
  const any_preconditioner<V>& m_;
  view<V> x_;
  index_t n_;
  kind what_;
  iteration<S> it_;
  decltype(s_.make(0)) shadow_, p_, v_, t_, mp_, ms_;
};

struct bicgstab_method {
  static constexpr std::string_view name = "bicgstab";
  template <vector_space S>
  static solve_report run(S& space, const linear_system<value_of<S>>& system, const solve_options& options) {
    return stabilised_bicg<S>(space, system, options).run();
  }
};

} // namespace furrow
