// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "steps.hpp"

#include "core/parameters.hpp"
#include "solvers/method.hpp"

namespace furrow {

namespace gmres_messages {
/// The end that a verdict of GMRES means. `patient`: empty for one that starting again may mend.
std::optional<ending> explain(int verdict, const double* slots, bool patient);
} // namespace gmres_messages

/// What `gmres[:RESTART][:basis=f32]` and `fgmres[:RESTART]` ask for.
struct gmres_asked {
  gmres_asked(std::string_view parameters, bool flexible);
  index_t restart; ///< steps of a cycle
  bool narrow;     ///< the basis in single precision
};

/// GMRES, started anew every m steps, preconditioned from the right: A x = b for any square A, written once for every
/// space. A step makes w out of u, a unit vector that was made orthogonal to V once, and both orthogonal to V together:
///
///   w = A M u;  s = V'u;  t = V'w;  alpha^2 = u'u - s's;  tau = (u'w - s't) / alpha
///   v = (u - V s) / alpha, the next vector of V;  u = sigma (w - V t - tau v)
///   x = x_0 + M V S y,  where y makes |r| = | |r_0| e_1 - H y | least
///
/// A column of H is t, tau, and |w - V t - tau v| below; the next step adds s / sigma to it, and puts alpha / sigma
/// below. The columns of S are s and alpha, so that V S has the vectors u that A M was applied to, and A M V S = V H.
/// sigma is about 1 over that norm, and alpha about 1: s is rounding, over what was left of w, and S the identity up to
/// that. The residual is that of A x = b, whatever M is, and cannot grow. Each vector is made orthogonal twice by
/// classical Gram-Schmidt, which is as good as to rounding (L. Giraud, J. Langou, M. Rozloznik, J. van den Eshof,
/// 2005); the second time waits for the next product and goes along with the first one of that, so that V is read twice
/// a step (D. Bielich, J. Langou, S. Thomas, K. Swirydowicz, I. Yamazaki, E. G. Boman, Low-synch Gram-Schmidt with
/// delayed reorthogonalization for Krylov solvers, 2022, who correct w by s in place of keeping S). H, its rotations, S
/// and y live beside the vectors. x is worked out only where a cycle ends, or where it is looked at; each cycle starts
/// from b - A x. `flexible`: M may be another one in each step, which costs the m vectors z = M u: x = x_0 + Z y. E:
/// what V is kept in. In float under double half of the bytes of a long cycle go; all else, the sums of its products
/// too, stays in double, so that only the relation A M V S = V H is off, by 6e-8 of |w|: a cycle can reduce |r| by some
/// six digits, and the next one starts from b - A x in double (J. I. Aliaga, H. Anzt, T. Gruetzmacher, E. S.
/// Quintana-Orti, A. E. Tomas, Compressed basis GMRES on high-performance graphics processing units, 2023). Allocates m
/// vectors of V, u, w, the x of the cycle, M u where M is not the identity, and Z where it is flexible, beside what
/// `iteration` takes. Cost of step j of a cycle, from 0: a product, M, and passes over 2 j + 1 vectors of E and 5 more;
/// of a cycle: a product, M, one pass over V and one wait. The same bits on every run with the same build and device.
/// Y. Saad, M. H. Schultz, GMRES, 1986; Y. Saad, A flexible inner-outer preconditioned GMRES algorithm, 1993, and
/// Iterative Methods for Sparse Linear Systems, 2nd ed., algorithms 9.5 and 9.6.
template <vector_space S, bool flexible, class E = value_of<S>> class restarted_gmres : method<S> {
  using base = method<S>;
  using base::s_, base::a_, base::m_, base::x_, base::n_, base::it_, base::at, base::plain, base::diagonal;
  using typename base::V;

public:
  restarted_gmres(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, gmres_steps::numbers::count(steps_of(system))), steps_(steps_of(system)),
        basis_memory_(space.template make_basis<E>(n_, steps_)),
        kept_memory_(space.make_basis(n_, flexible ? steps_ : 0)), u_(base::make()), w_(base::make()),
        first_x_(base::make()), z_(base::make(!plain())) {}

  static index_t vectors(std::string_view parameters) {
    const gmres_asked asked(parameters, flexible);
    const index_t m = asked.restart, kept = asked.narrow ? (m + 1) / 2 : m;
    return 2 + kept + 4 + (flexible ? m : 0);
  }

  solve_report run() { return base::run_iteration(*this); }
  /// V: the first vectors, as many as there were steps since x was last worked out for a new cycle.
  basis<E> vectors_of_cycle() { return all(); }

  void start() {
    using namespace gmres_steps;
    s_.scalars(begin_cycle{numbers()});
    s_.sweep(n_, pass(begin<V>{at(scale)}, out(as_view(u_)), out(as_view(first_x_)), in(it_.r()), in(x_)));
    if (is_ahead()) ahead();
  }

  void step() {
    using namespace gmres_steps;
    const view<V> u = as_view(u_), w = as_view(w_);
    if (!is_ahead()) multiply();
    s_.project_two(all(), at(columns), u, w, slot{numbers().g()});
    s_.combine_two(all(), at(columns), slot{numbers().pairs()},
                   pass(advance<V>{numbers()}, given<V>(), given<V>(), both(u), in(w), out(all(), at(columns))),
                   at(rest));
  }

  /// The product of the next step, which does not wait for the rotations of this one; one more at the end of a cycle.
  void ahead() { multiply(); }
  /// Where rotations take as long as a product, and nothing else needs w or the number of columns in between.
  bool is_ahead() const {
    if constexpr (!flexible && requires { S::repeats_beside; }) return !base::stored();
    else return false;
  }

  void settle() {
    using namespace gmres_steps;
    s_.scalars(solve_triangle{numbers(), flexible});
    const slot y{numbers().y()};
    const auto x = out(x_);
    const auto first = in(as_view(first_x_));
    if (flexible) s_.combine(kept(), at(columns), y, pass(move<V>{}, given<V>(), x, first));
    else if (plain()) s_.combine(all(), at(columns), y, pass(move<V>{}, given<V>(), x, first));
    else if (diagonal()) s_.combine(all(), at(columns), y, pass(move<V>{}, given<V>(), x, first, in(m_.diagonal())));
    else {
      s_.combine(all(), at(columns), y, pass(take<V>{}, given<V>(), out(as_view(w_))));
      m_.apply(as_view(w_), as_view(z_));
      s_.sweep(n_, pass(move<V>{}, in(as_view(z_)), x, first));
    }
  }

  gmres_steps::judge judge() { return {numbers(), rounding()}; }
  static std::optional<ending> explain(int verdict, const double* slots, bool patient) {
    return gmres_messages::explain(verdict, slots, patient);
  }

  /// The mean over the steps of a cycle, without its end.
  double bytes_per_iteration() const {
    return a_.bytes_per_apply() + base::bytes_of_precondition() +
           base::vectors(double(steps_) * double(sizeof(E)) / sizeof(V) + 5 + (flexible ? 2 : 0));
  }

private:
  /// w = A M u.
  void multiply() {
    const view<V> z = base::precondition(as_view(u_), as_view(z_));
    if constexpr (flexible) s_.sweep(n_, pass(gmres_steps::keep<V>{}, out(kept(), at(gmres_steps::columns)), in(z)));
    a_.apply(V(1), z, V(0), as_view(w_));
  }

  static int steps_of(const linear_system<V>& system) {
    return static_cast<int>(std::min(gmres_asked(system.parameters, flexible).restart, system.size()));
  }
  gmres_steps::numbers numbers() { return {it_.slots(), steps_}; }
  basis<E> all() { return {basis_memory_.data(), n_}; }
  basis<V> kept() { return {kept_memory_.data(), n_}; }
  /// Of the product, and of the sums.
  double rounding() const { return (double(base::system_.longest_row) + 64) * (std::numeric_limits<V>::epsilon() / 2); }

  int steps_;
  decltype(std::declval<S&>().template make_basis<E>(0, 0)) basis_memory_;
  typename base::array kept_memory_, u_, w_, first_x_, z_;
};

struct gmres_method {
  /// By what the parameters say of the basis.
  template <vector_space S> class solver {
    using V = value_of<S>;

  public:
    solver(S& space, const linear_system<V>& system, const solve_options& options)
        : space_(space), system_(system), options_(options) {}
    solve_report run() {
      if (!gmres_asked(system_.parameters, false).narrow)
        return restarted_gmres<S, false>(space_, system_, options_).run();
      if constexpr (is_wide<V>) return restarted_gmres<S, false, float>(space_, system_, options_).run();
      throw error(fault::usage,
                  "gmres:basis=f32 is for a solve in f64, and this one has its basis in f32: leave it out");
    }

  private:
    S& space_;
    const linear_system<V>& system_;
    const solve_options& options_;
  };
};

} // namespace furrow
