// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "steps.hpp"

#include "solvers/method.hpp"
#include "solvers/shadow_vector.hpp"

namespace furrow {

namespace bicgstab2_messages {
/// The end that a verdict of BiCGStab(2) means. `patient`: empty for one that starting again may mend.
std::optional<ending> explain(int verdict, const double* slots, bool patient);
} // namespace bicgstab2_messages

/// BiCGStab(2), preconditioned from the right: A x = b for any square A, written once for every space. A step is two
/// steps of BiCG, and a residual polynomial of degree 2, whose roots may be complex:
///
///   u1 = A M u;   alpha  = rho / r~'u1;   r  -= alpha u1
///   r1 = A M r;   beta   = r~'r1 / r~'u1; u1  = r1 - beta u1
///   u2 = A M u1;  alpha2 = r~'r1 / r~'u2; r1 -= alpha2 u2;  s = r - alpha2 u1
///   r2 = A M r1;  gamma makes |s - gamma1 r1 - gamma2 r2| least, see `minimise`
///   x += M ((alpha - alpha2 beta) u + (alpha2 + gamma1) r - gamma1 alpha2 u1 + gamma2 r1)
///   u  = (r - beta u) - gamma1 u1 - gamma2 u2;  r = s - gamma1 r1 - gamma2 r2
///   u  = r - (r~'r2 / r~'u2) u
///
/// The last factor is that of BiCG because r~ is orthogonal to s and r1. s and r - beta u are never stored, so that the
/// last three lines are one pass. The residual is that of A x = b, whatever M is. Allocates r~, u, u1, u2, r1, r2, one
/// more where M is a diagonal, and four where it is stored, beside what `iteration` takes. Cost of a step: four
/// products, three of which read r~ for r~'u1, r~'r1 and r~'u2, and passes over 3 (r), 3 (u1), 5 (r1), 5 (r2) and 11
/// vectors (x, r, u); a diagonal M adds 8, another one its four applications and 4. The residual is not monotone:
/// behind a hump r is worked out anew, a product more. Where a denominator or r~'r vanishes, it starts again from the
/// residual at hand, with a random r~ in place of r. G. L. G. Sleijpen, D. R. Fokkema, BiCGstab(l) for linear equations
/// involving unsymmetric matrices with complex spectrum, 1993.
template <vector_space S> class stabilised_bicg_two : method<S> {
  using base = method<S>;
  using base::s_, base::a_, base::m_, base::x_, base::n_, base::it_, base::at, base::plain, base::diagonal,
      base::stored;
  using typename base::array;
  using typename base::V;

public:
  stabilised_bicg_two(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, bicgstab2_steps::slot_count), shadow_(base::make()), u_(base::make()),
        u1_(base::make()), u2_(base::make()), r1_(base::make()), r2_(base::make()), mu_(base::make(!plain())),
        mr_(base::make(stored())), mu1_(base::make(stored())), mr1_(base::make(stored())) {
    it_.replace_residual_behind_humps();
  }

  solve_report run() { return base::run_iteration(*this); }

  void start() {
    using namespace bicgstab2_steps;
    const auto shadow = as_view(shadow_);
    const auto u = out(as_view(u_));
    const auto r = in(it_.r());
    const bool anew = lost_its_shadow();
    if (anew) s_.copy(as_cview(array(shadow_vector<V>(n_, it_.starts_before(), base::system_.first_row))), shadow);
    with_image(as_view(u_), mu_, [&](auto... z) {
      if (anew) s_.sweep(n_, pass(begin_anew<V>{}, u, r, in(shadow), z...), at(rho));
      else s_.sweep(n_, pass(begin<V>{}, out(shadow), u, r, z...), at(rho));
    });
  }

  void step() {
    using namespace bicgstab2_steps;
    const view<V> r = it_.r(), u = as_view(u_), u1 = as_view(u1_), u2 = as_view(u2_), r1 = as_view(r1_),
                  r2 = as_view(r2_), shadow = as_view(shadow_);
    const quotient alpha{at(rho), at(sigma)}, beta{at(rho_half), at(sigma)}, alpha_two{at(rho_half), at(sigma_two)},
        beta_next{at(shadow_r2), at(sigma_two)};

    a_.apply_dot(image(u, mu_), u1, shadow, at(sigma));
    with_image(r, mr_, [&](auto... z) { s_.sweep(n_, pass(shorten<V>{alpha}, both(r), in(u1), z...)); });
    a_.apply_dot(image(r, mr_), r1, shadow, at(rho_half));
    with_image(u1, mu1_, [&](auto... z) { s_.sweep(n_, pass(turn<V>{beta}, both(u1), in(r1), z...)); });
    a_.apply_dot(image(u1, mu1_), u2, shadow, at(sigma_two));
    with_image(r1, mr1_, [&](auto... z) {
      s_.sweep(n_, pass(shorten_first<V>{alpha_two}, both(r1), in(u2), in(r), in(u1), z...), at(r1r1), at(r1s));
    });
    a_.apply(V(1), image(r1, mr1_), V(0), r2);
    s_.sweep(n_, pass(measure_second<V>{alpha_two}, in(r), in(u1), in(r1), in(r2), in(shadow)), at(r1r2), at(r2r2),
             at(r2s), at(shadow_r2));
    s_.scalars(minimise{it_.slots(), rounding()});
    const auto move = [&](auto... m) {
      const finish<V> f{alpha, beta, alpha_two, beta_next, at(gamma1), at(gamma2)};
      s_.sweep(n_, pass(f, both(x_), both(r), both(u), in(u1), in(u2), in(r1), in(r2), in(shadow), m...),
               at(control::rr), at(rho_next));
    };
    if (!stored()) return with_image(u, mu_, move);
    move(in(as_view(mu_)), in(as_view(mr_)), in(as_view(mu1_)), in(as_view(mr1_)));
    m_.apply(u, as_view(mu_));
  }

  bicgstab2_steps::judge judge() { return bicgstab2_steps::judge{it_.slots()}; }
  static std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return bicgstab2_messages::explain(verdict, slots, patient);
  }

  double bytes_per_iteration() const {
    double total = 4 * a_.bytes_per_apply() + base::vectors(3 + 3 + 3 + 5 + 5 + 11);
    if (diagonal()) total += base::vectors(8);
    if (stored()) total += base::vectors(4 + 4 * 2) + 4 * m_.stored_bytes();
    return total;
  }

private:
  /// Whether this start follows a step that r~ made impossible: r in its place would most likely do so again.
  bool lost_its_shadow() const {
    using namespace bicgstab2_steps;
    const auto why = static_cast<int>(it_.last_slots()[control::why]);
    return it_.starts_before() > 0 && (why == int(lost_direction) || why == int(lost_shadow));
  }
  /// M v, as `with_image` leaves it: in `mv` where M is stored, in the one vector that there is for a diagonal.
  view<V> image(view<V> v, array& mv) {
    if (plain()) return v;
    return as_view(diagonal() ? mu_ : mv);
  }
  /// `sweep`, which writes v, and M v: in the same pass where M is a diagonal, behind it where it is stored.
  template <class F> void with_image(view<V> v, array& mv, F sweep) {
    if (diagonal()) sweep(out(as_view(mu_)), in(m_.diagonal()));
    else sweep();
    if (stored()) m_.apply(v, as_view(mv));
  }
  /// Of the products of the minimisation.
  double rounding() const { return (double(base::system_.longest_row) + 64) * (std::numeric_limits<V>::epsilon() / 2); }

  array shadow_, u_, u1_, u2_, r1_, r2_, mu_, mr_, mu1_, mr1_;
};

struct bicgstab2_method {
  static constexpr std::string_view name = "bicgstab2";
  template <vector_space S> using solver = stabilised_bicg_two<S>;
};

} // namespace furrow
