// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "steps.hpp"

#include "solvers/cg/indefinite.hpp"
#include "solvers/cg/messages.hpp"
#include "solvers/method.hpp"

namespace furrow {

namespace cg_single_reduction_messages {
/// The end that a verdict means, as `cg_messages` has it.
std::optional<ending> explain(int verdict, const double* slots, bool patient,
                              const std::function<bool()>& is_indefinite);
} // namespace cg_single_reduction_messages

/// Conjugate gradients whose inner products of a step are all there before its one pass: A x = b for symmetric positive
/// definite A and M, written once for every space.
///
///   w = A u;  g = r'u;  beta = g / g_old;  alpha = g / (u'w - beta g / alpha_old)
///   p = u + beta p;  s = w + beta s;  x += alpha p;  r -= alpha s;  u = M r
///
/// The steps are those of cg but for rounding: s is A p by a recurrence, whose drift the recomputed residual shows.
/// Allocates p, s, w, and u where M is not the identity, beside what `iteration` takes.
/// Cost of a step: one product with A fused with u'w, and one pass over 9 vectors; a diagonal M adds two to it, another
/// one a vector, its application, and 2 vectors for r'u.
/// The same bits on every run with the same build and device. A. T. Chronopoulos, C. W. Gear, s-step iterative methods
/// for symmetric linear systems, 1989.
template <vector_space S> class single_reduction_conjugate_gradients : method<S> {
  using base = method<S>;
  using base::s_, base::a_, base::m_, base::x_, base::n_, base::it_, base::at, base::stored, base::diagonal,
      base::plain;
  using typename base::V;

public:
  single_reduction_conjugate_gradients(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, cg_single_reduction_steps::slot_count, cg_scalars::number_count), p_(base::make()),
        ap_(base::make()), w_(base::make()), u_(base::make(!plain())) {}

  solve_report run() { return base::run_iteration(*this); }

  void start() {
    using namespace cg_single_reduction_steps;
    const view<V> u = base::precondition(it_.r(), as_view(u_));
    s_.sweep(n_, pass(begin<V>{}, out(as_view(p_)), out(as_view(ap_)), in(it_.r()), in(u)), at(cg_scalars::rz), at(uu));
    s_.scalars(reset{it_.slots()});
  }

  void step() {
    using namespace cg_single_reduction_steps;
    const view<V> u = plain() ? it_.r() : as_view(u_);
    a_.apply_dot(u, as_view(w_), at(uw)); // w = A u,  u'w
    s_.scalars(turn{it_.slots()});
    const move<V> go{scalar(at(alpha)), scalar(at(beta))};
    const auto x = both(x_), p = both(as_view(p_)), ap = both(as_view(ap_)), r = both(it_.r());
    const auto w = in(as_view(w_));
    const slot rr = at(control::rr), rz = at(cg_scalars::rz_next);
    if (stored()) {
      s_.sweep(n_, pass(go, x, p, ap, r, w, in(u)), rr);
      m_.apply(it_.r(), u);
      s_.sweep(n_, pass(measure_products<V>{}, in(it_.r()), in(u)), rz, at(uu));
    } else if (diagonal()) s_.sweep(n_, pass(go, x, p, ap, r, w, out(u), in(m_.diagonal())), rr, rz);
    else s_.sweep(n_, pass(go, x, p, ap, r, w), rr, rz);
  }

  cg_single_reduction_steps::judge judge() {
    const double unit = std::numeric_limits<V>::epsilon() / 2, length = double(base::system_.longest_row);
    const double rounding = (length + 64) * unit * (diagonal() ? length : base::system_.norm_inf); // as in cg
    return {{it_.slots(), it_.records(), rounding, unit, stored()}};
  }
  std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return cg_single_reduction_messages::explain(verdict, slots, patient, [&] {
      return cg_scalars::is_indefinite(s_, base::system_, judge().same, slots, as_view(ap_), as_view(p_),
                                       at(cg_scalars::pq));
    });
  }

  double bytes_per_iteration() const {
    if (stored()) return a_.bytes_per_apply() + m_.stored_bytes() + base::vectors(2 + 2 + 10);
    return a_.bytes_per_apply() + base::vectors(diagonal() ? 11 : 9);
  }

private:
  typename base::array p_, ap_, w_, u_;
};

struct cg_single_reduction_method {
  static constexpr std::string_view name = "cg_single_reduction";
  template <vector_space S> using solver = single_reduction_conjugate_gradients<S>;
};

} // namespace furrow
