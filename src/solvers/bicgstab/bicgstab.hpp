// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "steps.hpp"

#include "solvers/method.hpp"
#include "solvers/shadow_vector.hpp"

namespace furrow {

namespace bicgstab_messages {
/// The end that a verdict of BiCGStab means. `patient`: empty for one that starting again may mend.
std::optional<ending> explain(int verdict, const double* slots, bool patient);
} // namespace bicgstab_messages

/// BiCGStab, preconditioned from the right: A x = b for any square A, written once for every space.
///
///   p^ = M p;  v = A p^;  alpha = rho / r~'v;  s = r - alpha v;  s^ = M s;  t = A s^;  omega = t's / t't
///   x += alpha p^ + omega s^;  r = s - omega t;  rho = r~'s - omega r~'t;  beta = rho / (omega r~'v)
///   p = r + beta (p - omega v)
///
/// The residual is that of A x = b, whatever M is. Allocates r~, p, v, t, and p^, s^ where M is not the identity,
/// beside what `iteration` takes. rho is r~'r, from sums that the second product takes along, so that x, r and p are
/// one pass. Cost of a step: two products, which read r~, and passes over 3 (s) and 8 (x, r, p) vectors; a diagonal M
/// adds 5, one of them s for the sums, another one its two applications and 3. The residual is not monotone: behind a
/// hump r is worked out anew, a product more. omega is kept away from 0
/// (`stable_omega`). Where r~'r, r~'v or t vanishes, it starts again from the residual at hand, with a random r~ in
/// place of r. H. A. van der Vorst, Bi-CGSTAB, 1992; Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed.,
/// algorithm 7.7.
template <vector_space S> class stabilised_bicg : protected method<S> {
protected:
  using base = method<S>;
  using base::s_, base::a_, base::m_, base::x_, base::n_, base::it_, base::at, base::plain, base::diagonal,
      base::stored;
  using typename base::V;

public:
  stabilised_bicg(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, bicgstab_steps::slot_count), shadow_(base::make()), p_(base::make()),
        v_(base::make()), t_(base::make()), mp_(base::make(!plain())), ms_(base::make(!plain())) {
    it_.replace_residual_behind_humps();
  }

  solve_report run() { return base::run_iteration(*this); }

  void start() {
    using namespace bicgstab_steps;
    const auto shadow = out(as_view(shadow_)), p = out(as_view(p_)), scaled = out(as_view(mp_));
    const auto r = in(it_.r());
    if (lost_its_shadow()) take_another_shadow(p, scaled);
    else if (diagonal()) s_.sweep(n_, pass(begin<V>{}, shadow, p, scaled, r, in(m_.diagonal())), at(rho));
    else s_.sweep(n_, pass(begin<V>{}, shadow, p, r), at(rho));
    if (stored()) m_.apply(as_view(p_), as_view(mp_));
  }

  void step() {
    using namespace bicgstab_steps;
    const quotient alpha{at(rho), at(sigma)};
    const auto x = both(x_), r = both(it_.r()), p = both(as_view(p_));
    const auto v = in(as_view(v_)), t = in(as_view(t_));

    a_.apply_dot(p_hat(), as_view(v_), as_view(shadow_), at(sigma)); // v = A p^,  r~'v
    if (diagonal()) s_.sweep(n_, pass(half_step<V>{alpha}, r, out(s_hat()), v, in(m_.diagonal())));
    else s_.sweep(n_, pass(half_step<V>{alpha}, r, v));                     // s = r - alpha v
    if (stored()) m_.apply(it_.r(), s_hat());                               // s^ = M s
    a_.apply_gram(s_hat(), as_view(t_), it_.r(), as_view(shadow_), at(tt)); // t = A s^,  and sums
    const full_step<V> full{it_.slots()};                                   // x, r and p
    if (plain()) s_.sweep(n_, pass(full, x, r, p, v, t), at(control::rr));
    else if (diagonal())
      s_.sweep(n_, pass(scaled_full_step<V>{full}, x, r, p, out(p_hat()), v, t, in(m_.diagonal())), at(control::rr));
    else s_.sweep(n_, pass(full, x, r, p, in(p_hat()), in(s_hat()), v, t), at(control::rr));
  }
  /// p^ = M p.
  void ahead() { m_.apply(as_view(p_), p_hat()); }
  bool is_ahead() const { return stored(); }

  bicgstab_steps::judge judge() { return bicgstab_steps::judge{it_.slots()}; }
  static std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return bicgstab_messages::explain(verdict, slots, patient);
  }

  double bytes_per_iteration() const {
    double total = 2 * a_.bytes_per_apply() + base::vectors(2 + 3 + 8);
    if (diagonal()) total += base::vectors(5);
    if (stored()) total += base::vectors(3 + 2 * 2) + 2 * m_.stored_bytes();
    return total;
  }

protected:
  typename base::array shadow_, p_;

private:
  /// Whether this start follows a step that r~ made impossible: r in its place would most likely do so again.
  bool lost_its_shadow() const {
    using namespace bicgstab_steps;
    const auto why = static_cast<int>(it_.last_slots()[control::why]);
    return it_.starts_before() > 0 && (why == int(lost_direction) || why == int(lost_shadow));
  }
  template <class Out> void take_another_shadow(Out p, Out scaled) {
    using bicgstab_steps::begin_anew;
    const typename base::array random(shadow_vector<V>(n_, it_.starts_before(), base::system_.first_row));
    s_.copy(as_cview(random), as_view(shadow_));
    const auto r = in(it_.r()), shadow = in(as_view(shadow_));
    const slot sum = at(bicgstab_steps::rho);
    if (diagonal()) s_.sweep(n_, pass(begin_anew<V>{}, p, scaled, r, shadow, in(m_.diagonal())), sum);
    else s_.sweep(n_, pass(begin_anew<V>{}, p, r, shadow), sum);
  }

  view<V> p_hat() { return as_view(plain() ? p_ : mp_); }
  view<V> s_hat() { return plain() ? it_.r() : as_view(ms_); }

  typename base::array v_, t_, mp_, ms_;
};

struct bicgstab_method {
  static constexpr std::string_view name = "bicgstab";
  template <vector_space S> using solver = stabilised_bicg<S>;
};

} // namespace furrow
