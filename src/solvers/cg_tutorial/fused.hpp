// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/cg/indefinite.hpp"
#include "solvers/cg/judge.hpp"
#include "solvers/cg/messages.hpp"
#include "solvers/cg/steps.hpp"
#include "solvers/method.hpp"

namespace furrow {

/// Conjugate gradients between `cg_tutorial` and `cg`: the three passes of cg, with its scalars on the host. A x = b
/// for symmetric positive definite A, without M, written once for every space.
///
/// Its x has the bits of that of cg: the host divides the numbers that the passes of cg would divide. Both sums of a
/// step come home, and no pass begins before they are there, so that the host drives the loop.
/// Allocates p and q beside what `iteration` takes. Cost of a step: that of cg, and two waits, on a GPU a third one for
/// the verdict. The same bits on every run with the same build and device. For comparison alone (forms.hpp).
template <vector_space S> class fused_conjugate_gradients : method<S> {
  using base = method<S>;
  using base::s_, base::a_, base::x_, base::n_, base::it_, base::at;
  using typename base::V;

public:
  fused_conjugate_gradients(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, cg_scalars::slot_count, cg_scalars::number_count), p_(base::make()),
        q_(base::make()) {
    check(base::plain(), fault::usage, "conjugate gradients with scalars on the host are there without M alone");
  }

  solve_report run() {
    solve_report report = base::run_iteration(*this);
    report.waits += waits_ + (a_.where().is_gpu() ? report.iterations : 0);
    return report;
  }
  bool waits() const { return true; }

  /// p = r, and r'r.
  void start() {
    s_.sweep(n_, pass(cg_steps::begin<V>{}, out(as_view(p_)), in(it_.r())), at(cg_scalars::rz));
    rz_ = bring_home(cg_scalars::rz);
    s_.scalars(cg_scalars::reset{it_.slots()});
  }

  void step() {
    using namespace cg_scalars;
    const auto x = both(x_), p = both(as_view(p_)), r = both(it_.r());
    a_.apply_dot(as_view(p_), as_view(q_), at(pq)); // q = A p,  p'q
    const double pq_home = bring_home(pq);
    const number alpha(pq_home > 0 ? rz_ / pq_home : 0); // no step where A is not definite: the judge says so
    s_.sweep(n_, pass(cg_steps::shrink<V, number>{alpha}, r, in(as_view(q_))), at(control::rr), at(rz_next));
    const double rz = bring_home(rz_next);
    const number beta(rz_ > 0 ? rz / rz_ : 0);
    s_.sweep(n_, pass(cg_steps::advance<V, number>{alpha, beta}, x, p, in(it_.r()))); // x += alpha p, p = r + beta p
    rz_ = rz;
  }

  cg_scalars::judge judge() {
    const double unit = std::numeric_limits<V>::epsilon() / 2, length = double(base::system_.longest_row);
    return {it_.slots(), it_.records(), (length + 64) * unit * base::system_.norm_inf, unit, false}; // as in cg
  }
  std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return cg_messages::explain(verdict, slots, patient, [&] {
      return cg_scalars::is_indefinite(s_, base::system_, judge(), slots, as_view(q_), as_view(p_), at(cg_scalars::pq));
    });
  }

  double bytes_per_iteration() const { return a_.bytes_per_apply() + base::vectors(3 + 5); }

private:
  double bring_home(int name) {
    ++waits_;
    return s_.read(at(name));
  }

  typename base::array p_, q_;
  double rz_ = 0; ///< r'r
  index_t waits_ = 0;
};

struct cg_fused_method {
  static constexpr std::string_view name = "cg, its scalars on the host";
  template <vector_space S> using solver = fused_conjugate_gradients<S>;
};

} // namespace furrow
