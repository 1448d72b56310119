// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "iteration.hpp"

namespace furrow {

/// What every method holds: where it runs, what it solves, and the iteration around its step, whose needs it serves.
template <vector_space S> class method {
protected:
  using V = value_of<S>;
  using kind = typename any_preconditioner<V>::kind;
  using array = decltype(std::declval<S&>().make(0));

  method(S& space, const linear_system<V>& system, const solve_options& options, int own_slots,
         int numbers_of_a_step = 1)
      : s_(space), system_(system), a_(system.a), m_(system.m), x_(system.x), n_(system.x.size), what_(m_.what()),
        it_(space, system, options, own_slots, numbers_of_a_step) {}

  bool plain() const { return what_ == kind::identity; }
  bool diagonal() const { return what_ == kind::diagonal; }
  bool stored() const { return what_ == kind::general; }
  slot at(int name) { return it_.at(name); }
  array make(bool needed = true) { return s_.make(needed ? n_ : 0); }

  /// M r: r itself where M is the identity, z otherwise, which must not overlap it.
  view<V> precondition(view<V> r, view<V> z) {
    if (plain()) return r;
    if (diagonal()) s_.sweep(n_, pass(multiply_by{}, out(z), in(r), in(m_.diagonal())));
    else m_.apply(r, z);
    return z;
  }
  /// Bytes of that.
  double bytes_of_precondition() const {
    return plain() ? 0 : vectors(2) + (diagonal() ? vectors(1) : m_.stored_bytes());
  }
  double vectors(double count) const { return count * double(n_) * sizeof(V); }

  /// Runs `self`, a method with the members that `iteration` asks for and `bytes_per_iteration()`.
  template <class Self> solve_report run_iteration(Self& self) {
    solve_report report = it_.run(self);
    report.bytes_per_iteration = self.bytes_per_iteration();
    warn(report);
    return report;
  }
  static void warn(solve_report& report) {
    report.warning =
        solver_messages::inaccurate(report.error_estimate, report.condition_estimate, report.relative_residual);
  }

  S& s_;
  const linear_system<V>& system_;
  const any_operator<V>& a_;
  const any_preconditioner<V>& m_;
  view<V> x_;
  index_t n_;
  kind what_;
  iteration<S> it_;
};

/// A method by its type, see on_device.hpp.
template <class Method, vector_space S>
solve_report run_in(S& space, const linear_system<value_of<S>>& system, const solve_options& options) {
  return typename Method::template solver<S>(space, system, options).run();
}

} // namespace furrow
