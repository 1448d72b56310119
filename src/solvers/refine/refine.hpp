// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "inner.hpp"
#include "messages.hpp"
#include "steps.hpp"

#include "solvers/method.hpp"

#include <chrono>

namespace furrow {

/// The space of the same device for values of another precision.
template <class S, class V> struct space_for;
template <template <class> class Space, class Old, class V> struct space_for<Space<Old>, V> { using type = Space<V>; };

/// Iterative refinement around a solver in single precision:
///
///   S d = 2^k r in f32, to a tolerance;  x += 2^(e - k) d;  r = b - A x, both in f64
///
/// with S = 2^e A, rounded. k brings the elements of r near 1 at every step, so that neither r nor d leaves the range
/// of single precision as they shrink. Each step makes the residual smaller by that tolerance, or by cond(A) u32 where
/// that is more; it ends at the residual that f64 attains where cond(A) is below some 1e6, and says so where the
/// matrix is worse than that (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., chapter 12;
/// E. Carson, N. J. Higham, Accelerating the solution of linear systems by iterative refinement in three precisions,
/// 2018).
/// The tolerance: a method that begins again loses what it has learned of A, so that the way to the goal is cut into as
/// few parts as rounding allows, of equal length. Conjugate gradients in f32 from 0 to 1e-8 in two corrections take 1.2
/// to 1.35 times the iterations of f64, in three 1.3 to 1.9, in five 1.4 to 2.1 (Laplacians of 10,000 and 125,000
/// rows). Cost of a step: the inner solver's iterations, a product, and passes over 5.5 vectors. The host drives the
/// loop. Goal, verdicts and what comes back: `iteration`.
template <vector_space S> class mixed_refinement : method<S> {
  using base = method<S>;
  using base::s_, base::system_, base::a_, base::x_, base::n_, base::it_, base::at;
  using typename base::V;
  using single = typename space_for<S, float>::type;

public:
  mixed_refinement(S& space, const linear_system<V>& system, const solve_options& options)
      : base(space, system, options, refine_steps::slot_count), inner_(static_cast<const inner_system&>(*system.kept)),
        o_(options), single_r_(single_.make(n_)), d_(single_.make(n_)) {}

  solve_report run() {
    solve_report report = base::run_iteration(*this);
    report.inner_iterations = inner_iterations_;
    report.waits += waits_;
    report.condition_estimate = condition_;
    base::warn(report);
    return report;
  }

  void waits() const {}

  void start() {
    norm_ = it_.residual();
    set(refine_steps::mark, norm_ * norm_);
    set(refine_steps::idle, 0);
  }

  void step() {
    const int k = norm_ > 0 ? -std::ilogb(norm_ / std::sqrt(double(n_))) : 0;
    const auto r = in(as_cview(it_.r()));
    s_.sweep(n_, pass(refine_steps::narrow{std::ldexp(1.0, k)}, r, out(as_view(single_r_)), out(as_view(d_))));
    const double steps = double(steps_++);
    last_ = inner_.solve(as_cview(single_r_), as_view(d_), options_inside(steps));
    const refine_steps::correct correct{std::ldexp(1.0, inner_.exponent() - k)};
    s_.sweep(n_, pass(correct, both(x_), in(as_cview(d_))), at(refine_steps::length));
    a_.residual(system_.b, x_, it_.r(), at(control::rr));
    look_at_correction(correct.scale);
  }

  refine_steps::judge judge() { return refine_steps::judge{it_.slots()}; }

  std::optional<ending> explain(int verdict, const double* slots, bool) {
    if (verdict == control::not_finite) return refine_messages::not_finite();
    if (stopped_) return ending{status::interrupted, solver_messages::interrupted};
    if (seconds() > o_.time_limit) return ending{status::max_iterations, solver_messages::out_of_time};
    const bool tired =
        last_.why == status::converged || last_.why == status::stagnated || last_.why == status::max_iterations;
    if (verdict == refine_steps::no_step && !tired)
      return refine_messages::no_step(inner_.method(), last_.why, last_.message);
    if (std::sqrt(slots[control::best]) <= 2 * it_.rounding_of_residual())
      return ending{status::stagnated, solver_messages::stagnated};
    return refine_messages::no_gain(inner_.method(), std::max({condition_seen_, condition_, 1 / unit}));
  }

  double bytes_per_iteration() const {
    return a_.bytes_per_apply() + base::vectors(5.5) + (steps_ > 0 ? inner_bytes_ / double(steps_) : 0);
  }

private:
  static constexpr double unit = std::numeric_limits<float>::epsilon() / 2;

  void set(int name, double value) { s_.put({&value, 1}, {at(name).at, 1}); }

  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }

  /// The way to half the goal in as few equal parts as there can be.
  double tolerance() const {
    const double way = std::log(std::min(0.5, it_.goal() / 2 / norm_));
    return std::exp(way / std::max(1.0, std::ceil(way / std::log(farthest_))));
  }

  solve_options options_inside(double steps) {
    solve_options o;
    o.where = o_.where;
    o.rtol = asked_ = tolerance();
    o.history = false;
    o.time_limit = o_.time_limit - seconds();
    o.watch = [this, steps](const progress& p) {
      const double relative = p.relative_residual * norm_ / it_.norm_of_b();
      const auto corrected = [this] { return it_.x_in_double(); };
      const bool due = o_.watch_every == 0;
      if (o_.watch && !o_.watch({static_cast<index_t>(steps), relative, seconds(), corrected, due})) stopped_ = true;
      return !stopped_;
    };
    return o;
  }

  /// What the correction did: |A d| <= |r before| + |r after|, so that cond(A) is at least |A| |d| beside that.
  void look_at_correction(double scale) {
    inner_iterations_ += last_.iterations;
    inner_bytes_ += last_.bytes_per_iteration * double(last_.iterations);
    const double before = norm_, moved = std::sqrt(s_.read(at(refine_steps::length))) * scale;
    norm_ = std::sqrt(s_.read(at(control::rr)));
    waits_ += last_.waits + 2;
    condition_ = std::max(condition_, last_.condition_estimate);
    if (norm_ > 2 * asked_ * before) farthest_ = std::clamp(norm_ / before, farthest_, 0.1);
    const double condition = system_.norm_2 * moved / (before + norm_);
    if (std::isfinite(condition)) condition_seen_ = std::max(condition_seen_, condition);
    set(refine_steps::stuck, stopped_ || !(moved > 0) ? 1 : 0);
  }

  const inner_system& inner_;
  const solve_options& o_;
  single single_;
  decltype(std::declval<single&>().make(0)) single_r_, d_;
  solve_report last_; ///< of the inner solver
  double norm_ = 0;   ///< |r|
  /// No correction is asked for more: what is this far below the residual that it begins with is lost to rounding of d
  /// and of S. A correction that falls short tells where that is.
  double farthest_ = 1e-6, asked_ = 0;
  double inner_bytes_ = 0, condition_ = 0, condition_seen_ = 0;
  index_t steps_ = 0, inner_iterations_ = 0, waits_ = 0;
  bool stopped_ = false;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

struct refine_method {
  static constexpr std::string_view name = "refine";
  template <vector_space S> using solver = mixed_refinement<S>;
};

} // namespace furrow
