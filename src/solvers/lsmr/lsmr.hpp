// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "steps.hpp"

#include "solvers/bidiagonal.hpp"

namespace furrow {

/// LSMR: the x of least |b - A x| for A of any shape and rank, where |M'A'r| cannot grow; with a damping d the x of
/// least |b - A x|^2 + d^2 |x|^2. From x = 0 without M it is the shortest of them.
///
/// It is MINRES for the normal equations, which are never formed: see `bidiagonal` for its products, passes, M and
/// damping. A step adds a pass over 7 vectors (x, h, h~, M v). |r| and |M'A'r| follow from the rotations; the verdict
/// works both out anew. Allocates q of the rows, t, v, h, h~ of the columns, one more for another M than a diagonal,
/// one for a damping, beside what `iteration` takes. Scalars stay beside the vectors; the host waits once a chunk.
/// The same bits on every run with the same build and device.
/// D. C.-L. Fong, M. Saunders, LSMR: an iterative algorithm for sparse least-squares problems, 2011.
template <vector_space S> class least_squares_minres : bidiagonal<S> {
  using base = bidiagonal<S>;
  using base::s_, base::x_, base::n_, base::it_, base::at, base::direction;
  using typename base::V;
  static constexpr std::string_view usage = "lsmr[:DAMP]";

public:
  least_squares_minres(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, lsmr_steps::slot_count, base::damping_of(usage, system.parameters)),
        h_(base::make()), bar_(base::make()) {}

  static index_t vectors(std::string_view parameters) {
    return 2 + base::own_vectors + 2 + (base::damping_of(usage, parameters) > 0 ? 1 : 0);
  }

  solve_report run() { return base::with_condition(base::run_iteration(*this)); }

  void start() {
    using namespace bidiagonal_steps;
    base::begin();
    s_.scalars(lsmr_steps::begin{it_.slots()});
    s_.sweep(n_, pass(lsmr_steps::first<V>{at(alpha)}, out(as_view(h_)), out(as_view(bar_)), in(direction())), at(ww));
  }

  void step() {
    using namespace lsmr_steps;
    base::expand();
    s_.scalars(rotate{it_.slots()});
    const advance<V> next{at(bidiagonal_steps::alpha), at(step_x), at(keep_bar), at(keep)};
    s_.sweep(n_, pass(next, both(x_), both(as_view(bar_)), both(as_view(h_)), in(direction())),
             at(bidiagonal_steps::ww));
  }

  bidiagonal_steps::judge judge() { return base::judge_of_steps(); }
  std::optional<ending> explain(int verdict, const double* slots, bool patient) const {
    return base::explain_verdict(verdict, slots, patient);
  }
  double normal_residual(double norm) { return base::normal_residual_of(norm); }
  using base::tells_of_range;
  ending least_squares(double ratio, bool up_to_rounding = false) const {
    return base::best_fit(ratio, up_to_rounding);
  }
  double bytes_per_iteration() const { return base::bytes_of_expansion() + base::vectors(7); }

private:
  typename base::array h_, bar_;
};

struct lsmr_method {
  static constexpr std::string_view name = "lsmr";
  template <vector_space S> using solver = least_squares_minres<S>;
};

} // namespace furrow
