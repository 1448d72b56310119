// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "steps.hpp"

#include "core/parameters.hpp"
#include "solvers/method.hpp"

#include <vector>

namespace furrow {

namespace idr_messages {
/// The end that a verdict of IDR means. `patient`: empty for one that starting again may mend.
std::optional<ending> explain(int verdict, const double* slots, bool patient);
/// `count` orthonormal vectors of n elements from a fixed pseudo-random sequence.
std::vector<host_array<double>> shadow_space(index_t n, int count);
} // namespace idr_messages

/// IDR(s), induced dimension reduction in its biorthogonal variant, preconditioned from the right: A x = b for any
/// square A, written once for every space. With P of s fixed vectors, f = P'r and M = P'G, a step is, for k = 1 ... s,
///
///   M(k:, k:) c = f(k:);  v = r - G(:, k:) c;  u_k = U(:, k:) c + omega M^ v;  g_k = A u_k    (M^: the preconditioner)
///   g_k -= G(:, :k) a, u_k -= U(:, :k) a, so that g_k is orthogonal to p_1 ... p_(k-1)
///   r -= beta g_k;  x += beta u_k, so that r is orthogonal to p_k too
///
/// and then z = M^ r;  t = A z;  omega = t'r / t't;  x += omega z;  r -= omega t. Every step forces r into a space
/// smaller by s dimensions; bicgstab does so for s = 1. The coefficients a come from one projection P'A u_k and forward
/// substitution with M, instead of k - 1 dots in turn. omega is kept from vanishing. P comes from a fixed sequence and
/// is orthonormal, so that two runs are the same. Allocates P, G, U (s vectors each), v or w, and z where M is not the
/// identity, beside what `iteration` takes. Cost of a step: s + 1 products, as many applications of M, and passes over
/// 3 s^2 + 14 s + 9 vectors, 5 s + 3 passes in all. The same bits on every run with the same
/// build and device. M. B. van Gijzen, P. Sonneveld, Algorithm 913: An elegant IDR(s) variant that efficiently exploits
/// biorthogonality properties, 2011.
template <vector_space S> class induced_dimension_reduction : method<S> {
  using base = method<S>;
  using base::s_, base::a_, base::m_, base::x_, base::n_, base::it_, base::at, base::plain;
  using typename base::V;

public:
  induced_dimension_reduction(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, idr_steps::numbers::count(size_of(system))), size_(size_of(system)),
        p_(space.make_basis(n_, size_)), g_(space.make_basis(n_, size_)), u_(space.make_basis(n_, size_)),
        w_(base::make()), z_(base::make(!plain())) {
    it_.replace_residual_behind_humps();
    const auto shadow = idr_messages::shadow_space(n_, size_);
    for (int k = 0; k < size_; ++k) {
      host_array<V> rounded(n_);
      std::copy(shadow[k].begin(), shadow[k].end(), rounded.begin());
      const typename base::array there(rounded);
      s_.copy(as_cview(there), P()[k]);
    }
  }

  static index_t dimension(std::string_view parameters) {
    return entry_parameters("idr[:S]", parameters).whole(0, 4, 1, 32);
  }
  static index_t vectors(std::string_view parameters) { return 2 + 3 * dimension(parameters) + 2; }

  solve_report run() { return base::run_iteration(*this); }

  void start() {
    clear(g_);
    clear(u_);
    s_.scalars(idr_steps::begin_scalars{numbers()});
  }

  void step() {
    using namespace idr_steps;
    const view<V> r = it_.r(), w = as_view(w_);
    s_.project(P(), count(size_), r, slot{numbers().f()}, at(unused)); // f = P'r
    for (int k = 0; k < size_; ++k) {
      const view<V> u = U()[k], g = G()[k];
      const slot c{numbers().c()}, later{numbers().c() + k};
      s_.scalars(solve_from{numbers(), k});
      s_.combine(from(G(), k), count(size_ - k), later, pass(reduce<V>{}, given<V>(), in(r), out(w)));
      const view<V> z = base::precondition(w, as_view(z_));
      s_.combine(from(U(), k), count(size_ - k), later, pass(point<V>{at(omega)}, given<V>(), in(z), out(u)));
      a_.apply(V(1), u, V(0), w);
      s_.project(P(), count(size_), w, slot{numbers().h()}, at(unused)); // h = P'A u
      s_.scalars(append{numbers(), k});
      s_.combine(G(), count(k), c, pass(shrink<V>{at(beta)}, given<V>(), in(w), out(g), both(r)));
      s_.combine(U(), count(k), c, pass(advance<V>{at(beta)}, given<V>(), both(u), both(x_)));
    }
    const view<V> z = base::precondition(r, as_view(z_));
    a_.apply(V(1), z, V(0), w);
    s_.sweep(n_, pass(measure_products<V>{}, in(r), in(w)), at(idr_steps::rr), at(tr), at(tt));
    s_.scalars(minimise{numbers()});
    // z is r itself without a preconditioner: the pass reads it before it writes.
    s_.sweep(n_, pass(finish<V>{at(omega)}, both(x_), both(r), in(z), in(w)), at(control::rr));
  }

  idr_steps::judge judge() { return idr_steps::judge{it_.slots()}; }
  static std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return idr_messages::explain(verdict, slots, patient);
  }

  double bytes_per_iteration() const {
    const double s = size_;
    return (s + 1) * (a_.bytes_per_apply() + base::bytes_of_precondition()) + base::vectors(3 * s * s + 14 * s + 9);
  }

private:
  static int size_of(const linear_system<V>& system) {
    return static_cast<int>(std::min(dimension(system.parameters), system.b.size));
  }
  idr_steps::numbers numbers() { return {it_.slots(), size_}; }
  slot count(int k) { return {numbers().counts() + k}; }
  basis<V> P() { return {p_.data(), n_}; }
  basis<V> G() { return {g_.data(), n_}; }
  basis<V> U() { return {u_.data(), n_}; }
  /// The vectors from k on.
  static basis<V> from(const basis<V>& all, int k) { return {all[k].data, all.n}; }
  void clear(typename base::array& all) { s_.sweep(all.size(), pass(set_zero{}, out(as_view(all)))); }

  int size_;
  typename base::array p_, g_, u_, w_, z_;
};

struct idr_method {
  template <vector_space S> using solver = induced_dimension_reduction<S>;
};

} // namespace furrow
