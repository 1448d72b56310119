// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/unfused.hpp"
#include "solvers/cg/indefinite.hpp"
#include "solvers/cg/judge.hpp"
#include "solvers/cg/messages.hpp"
#include "solvers/method.hpp"

namespace furrow {

namespace cg_tutorial_steps {

/// Judges as cg does. Without M the residual's square is r'z, which comes with the step's other numbers.
struct judge {
  cg_scalars::judge same;
  bool plain;
  FURROW_HD int before() const {
    if (plain) same.s[control::rr] = same.s[cg_scalars::rz_next];
    return same.before();
  }
  FURROW_HD int after() const { return same.after(); }
};

} // namespace cg_tutorial_steps

/// Conjugate gradients as a textbook and a tutorial write them, an operation a pass, for comparison with `cg`: A x = b
/// for symmetric positive definite A and M, written once for every space.
///
///   q = A p;  alpha = r'z / p'q;  x = x + alpha p;  r = r - alpha q;  z = M r;  beta = r'z / (r'z)_old;  p = z + beta
///   p
///
/// The scalars live on the host: each inner product allocates its partial sums, copies them home and waits, so the host
/// drives the loop and no graph holds it.
/// Allocates p, q, and z where M is not the identity, beside what `iteration` takes.
/// Cost of a step: one product, and five passes over 13 vectors, where cg makes two over 8; two waits, and on a GPU a
/// third one for the verdict. M adds a pass and its application; another inner product, of r with itself.
/// The steps are those of cg but for the order in which p'q is added up. The same bits on every run with the same build
/// and device. `auto` never takes it. M. R. Hestenes, E. Stiefel, Methods of conjugate gradients for solving linear
/// systems, 1952; Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 6.18.
template <vector_space S> class tutorial_conjugate_gradients : method<S> {
  using base = method<S>;
  using base::s_, base::a_, base::m_, base::x_, base::n_, base::it_, base::at, base::stored, base::diagonal,
      base::plain;
  using typename base::V;

public:
  tutorial_conjugate_gradients(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, cg_scalars::slot_count, cg_scalars::number_count), p_(base::make()),
        q_(base::make()), z_(base::make(!plain())) {}

  solve_report run() {
    solve_report report = base::run_iteration(*this);
    report.waits += waits_ + (a_.where().is_gpu() ? report.iterations : 0);
    return report;
  }
  bool waits() const { return true; }

  /// p = z = M r, and r'z.
  void start() {
    const view<V> z = base::precondition(it_.r(), as_view(z_));
    s_.copy(z, as_view(p_));
    rz_ = product(it_.r(), z);
    put({rz_}, cg_scalars::rz);
    s_.scalars(cg_scalars::reset{it_.slots()});
  }

  void step() {
    const view<V> p = as_view(p_), q = as_view(q_), r = it_.r();
    a_.apply(V(1), p, V(0), q); // q = A p
    const double pq = product(p, q);
    const double alpha = pq > 0 ? rz_ / pq : 0; // no step where A is not definite: the judge says so
    unfused::add(s_, x_, V(alpha), p, x_);
    unfused::add(s_, r, V(-alpha), q, r);
    const view<V> z = base::precondition(r, as_view(z_));
    if (!plain()) put({product(r, r)}, control::rr);
    const double rz = product(r, z);
    put({rz, pq, pq > 0 || !stored() ? 0 : product(p, p)}, cg_scalars::rz_next);
    unfused::add(s_, z, V(rz_ > 0 ? rz / rz_ : 0), p, p);
    rz_ = rz;
  }

  cg_tutorial_steps::judge judge() {
    const double unit = std::numeric_limits<V>::epsilon() / 2, length = double(base::system_.longest_row);
    const double rounding = (length + 64) * unit * (diagonal() ? length : base::system_.norm_inf); // as in cg
    return {{it_.slots(), it_.records(), rounding, unit, stored()}, plain()};
  }
  std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return cg_messages::explain(verdict, slots, patient, [&] {
      return cg_scalars::is_indefinite(s_, base::system_, judge().same, slots, as_view(q_), as_view(p_),
                                       at(cg_scalars::pq));
    });
  }

  double bytes_per_iteration() const {
    return a_.bytes_per_apply() + base::bytes_of_precondition() + base::vectors(plain() ? 13 : 15);
  }

private:
  double product(cview<V> v, cview<V> w) {
    ++waits_;
    return unfused::dot(s_, v, w);
  }
  /// Numbers of the host into slots side by side, from `first` on.
  template <int N> void put(const double (&numbers)[N], int first) { s_.put({numbers, N}, {at(first).at, N}); }

  typename base::array p_, q_, z_;
  double rz_ = 0;
  index_t waits_ = 0;
};

struct cg_tutorial_method {
  static constexpr std::string_view name = "cg_tutorial";
  template <vector_space S> using solver = tutorial_conjugate_gradients<S>;
};

} // namespace furrow
