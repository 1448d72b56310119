// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "control.hpp"
#include "messages.hpp"
#include "steps.hpp"

#include "solvers/entry.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace furrow {

/// Preconditioned conjugate gradients: A x = b for symmetric positive definite A and M, written once for every space.
///
///   q = A p;  alpha = r'z / p'q;  x += alpha p;  r -= alpha q;  z = M r;  beta = r'z / (r'z)_old;  p = z + beta p
///
/// `a` and `m` act in the space's memory; system.b and system.x are views of it and must not overlap. x holds the first
/// guess. Allocates r, p, q, and z where M is neither the identity nor a diagonal.
/// Cost of an iteration: one product with A fused with p'q, and two passes: r (3 vectors) and x, p (5 vectors); a
/// diagonal M adds one vector to each. Scalars stay beside the vectors; the host waits once a chunk of iterations.
/// Stops as `status` says. `converged` is said of a recomputed residual only: when the recursive one is small and
/// the recomputed one is not, the iteration starts again from the latter, as long as that makes progress.
/// The same bits on every run with the same build and device.
/// M. R. Hestenes, E. Stiefel, Methods of conjugate gradients for solving linear systems, 1952; the fused passes
/// as in Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., algorithm 9.1.
template <vector_space S, class Z> class conjugate_gradients {
  using V = value_of<S>;
  using system_type = linear_system<V>;

public:
  conjugate_gradients(S& space, const system_type& system, const solve_options& options)
      : s_(space), system_(system), o_(options), n_(system.b.size), r_(space.make(n_)), p_(space.make(n_)),
        q_(space.make(n_)), z_(space.make(stores_z ? n_ : 0)),
        numbers_(space.make_slots(cg_control::slot_count + ring)), home_(cg_control::slot_count + ring) {}

  solve_report run() {
    s_.dot(system_.b, system_.b, at(cg_control::rr));
    norm_b_ = std::sqrt(s_.read(at(cg_control::rr)));
    ++report_.waits;
    goal_ = std::max(o_.rtol * norm_b_, o_.atol);
    iterate();
    report_.relative_residual = relative();
    report_.solve_seconds = seconds();
    report_.bytes_per_iteration = bytes_per_iteration();
    return std::move(report_);
  }

  /// What the passes of an iteration must move, by their declared reads and writes.
  double bytes_per_iteration() const {
    const double vector = double(n_) * sizeof(V);
    double total = system_.a.bytes_per_apply();
    if constexpr (stores_z) total += system_.m.stored_bytes() + vector * (count<shrink_alone> + 2 + 2 + count<advance>);
    else total += vector * (count<shrink> + count<advance>);
    return total;
  }

private:
  static constexpr bool stores_z = std::is_same_v<Z, cg_steps::stored<V>>;
  static constexpr index_t ring = 4096; ///< residuals kept beside the vectors; the longest chunk of iterations
  static constexpr int patience = 10;   ///< starts from the recomputed residual that may bring nothing
  using begin = cg_steps::begin<V, Z>;
  using shrink = cg_steps::shrink<V, Z>;
  using shrink_alone = cg_steps::shrink_alone<V>;
  using advance = cg_steps::advance<V, Z>;
  using verdict = cg_control::verdict;
  template <class Step> static constexpr double count = Step::reads + Step::writes;

  slot at(cg_control::slot_name k) { return {numbers_.data() + k}; }

  Z z() const {
    if constexpr (stores_z) return {as_cview(z_)};
    else if constexpr (std::is_same_v<Z, cg_steps::diagonal<V>>) return {system_.m.diagonal()};
    else return {};
  }

  /// One iteration, enqueued.
  void step() {
    using namespace cg_control;
    const coefficient alpha = at(rz) / at(pq), beta = at(rz_next) / at(rz);
    const view<V> r = as_view(r_), p = as_view(p_), q = as_view(q_);
    system_.a.apply_dot(p, q, at(pq)); // q = A p,  p'q
    if constexpr (stores_z) {
      s_.sweep(n_, shrink_alone{r, q, alpha}, at(rr)); // r -= alpha q,  r'r
      system_.m.apply(r, as_view(z_));                 // z = M r
      s_.dot(r, as_cview(z_), at(rz_next));            // r'z
    } else {
      s_.sweep(n_, shrink{r, q, z(), alpha}, at(rr), at(rz_next)); // r -= alpha q,  r'r,  r'z
    }
    s_.sweep(n_, advance{system_.x, p, r, z(), alpha, beta}, at(pp_next)); // x += alpha p,  p = z + beta p,  p'p
  }

  /// r = b - A x, and its norm.
  void recompute_residual() {
    s_.copy(system_.b, as_view(r_));
    system_.a.apply(V(-1), system_.x, V(1), as_view(r_));
    s_.dot(as_cview(r_), as_cview(r_), at(cg_control::rr));
    residual_ = std::sqrt(s_.read(at(cg_control::rr)));
    ++report_.waits;
  }

  /// p = z = M r and the scalars that go with it.
  void start_from_residual(double norm) {
    using namespace cg_control;
    if constexpr (stores_z) system_.m.apply(as_view(r_), as_view(z_));
    s_.sweep(n_, begin{as_view(r_), z(), as_view(p_)}, at(rr), at(rz), at(pp));
    const double fresh[] = {double(report_.iterations), 0, norm * norm, double(verdict::running)};
    static_assert(since_best == iteration + 1 && cg_control::best == iteration + 2 && why == iteration + 3);
    s_.put({fresh, 4}, part(as_view(numbers_), iteration, 4));
  }

  cg_control::until until(index_t limit) {
    const double unit = std::numeric_limits<V>::epsilon() / 2;
    cg_control::limits l;
    l.goal = goal_ * goal_;
    l.max_iterations = double(limit);
    l.patience = double(std::max<index_t>(2 * n_, 5000));
    l.ceiling = first_residual_ * first_residual_ * 1e40;
    // |fl(p'Ap) - p'Ap| <= (row length + log2 n + a few) u |p|'|A||p|, and |p|'|A||p| <= |A|_inf p'p for symmetric A.
    l.rounding = (double(system_.longest_row) + 64) * unit * system_.norm_inf;
    return {numbers_.data(), part(as_view(numbers_), cg_control::slot_count, ring), l};
  }

  void iterate() {
    const index_t limit = o_.max_iterations > 0 ? o_.max_iterations : std::max<index_t>(10 * n_, 10000);
    recompute_residual();
    first_residual_ = residual_;
    record(residual_);
    auto loop = s_.repeat([this] { step(); }, until(limit));
    if (finished(limit)) return;
    double smallest = residual_;
    for (int idle = 0;; ++report_.restarts) {
      start_from_residual(residual_);
      const verdict v = run_chunks(loop);
      recompute_residual();
      if (stopped_by(v) || finished(limit)) return;
      // What is left is a loop that believes it is done, or one that rounding stopped: go on from the recomputed
      // residual, unless ten starts in a row did not make the smallest one so far a tenth smaller.
      idle = residual_ < 0.9 * smallest ? 0 : idle + 1;
      smallest = std::min(smallest, residual_);
      if (idle == patience) {
        give_up(v);
        return;
      }
    }
  }

  /// Whether the recomputed residual decides.
  bool finished(index_t limit) {
    if (!std::isfinite(residual_)) return stop(status::nan, cg_messages::residual_not_finite(report_.iterations));
    if (residual_ <= goal_) return stop(status::converged, cg_messages::converged(report_.iterations));
    if (report_.iterations >= limit) return stop(status::max_iterations, cg_messages::limit(limit, relative()));
    return false;
  }

  /// Whether what the loop met ends the solve.
  bool stopped_by(verdict v) {
    using namespace cg_control;
    const index_t i = report_.iterations;
    if (residual_ <= goal_ && v != verdict::not_finite) return false; // good enough, whatever the loop met
    switch (v) {
    case verdict::not_finite:
      return stop(status::nan, cg_messages::not_finite(i + 1, home_[pq], home_[rr]));
    case verdict::negative_pq:
      return stop(status::not_positive_definite, cg_messages::negative_pq(i + 1, home_[pq]));
    case verdict::negative_rz:
      return stop(status::not_positive_definite, cg_messages::negative_rz(i, home_[rz_next]));
    case verdict::grown:
      return stop(status::diverged, cg_messages::grown(i, std::sqrt(home_[rr]) / first_residual_));
    case verdict::running: // only a watcher stops a running loop
      return stop(status::interrupted, cg_messages::interrupted(i));
    default:
      return false;
    }
  }

  bool give_up(verdict v) {
    using namespace cg_control;
    const index_t i = report_.iterations;
    if (v == verdict::zero_pq) return stop(status::breakdown, cg_messages::zero(i + 1, "p'Ap", home_[pq], relative()));
    if (v == verdict::zero_rz) return stop(status::breakdown, cg_messages::zero(i, "r'Mr", home_[rz_next], relative()));
    return stop(status::stagnated, cg_messages::stagnated(i, report_.restarts, relative(), sizeof(V) == 4));
  }

  bool stop(status why, std::string message) {
    report_.why = why;
    report_.message = std::move(message);
    return true;
  }

  double relative() const { return norm_b_ > 0 ? residual_ / norm_b_ : residual_; }

  /// Runs the loop in chunks of about a twentieth of a second, so that a person sees progress and can stop it.
  template <class Loop> verdict run_chunks(Loop& loop) {
    for (;;) {
      const double before = seconds();
      const bool done = loop.run(chunk_);
      s_.fetch(as_cview(numbers_), as_view(home_));
      report_.waits += 2;
      const auto now = static_cast<index_t>(home_[cg_control::iteration]);
      for (index_t i = report_.iterations + 1; i <= now; ++i) record(home_[cg_control::slot_count + i % ring]);
      report_.iterations = now;
      if (done) return static_cast<verdict>(static_cast<int>(home_[cg_control::why]));
      const double took = seconds() - before;
      if (took < 0.025) chunk_ = std::min(2 * chunk_, ring);
      if (took > 0.1) chunk_ = std::max<index_t>(chunk_ / 2, 1);
      const progress p{now, std::sqrt(home_[cg_control::rr]) / norm_b_, seconds()};
      if (o_.watch && !o_.watch(p)) return verdict::running;
    }
  }

  void record(double norm) {
    if (o_.history) report_.history.push_back(norm_b_ > 0 ? norm / norm_b_ : norm);
  }
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count(); }

  S& s_;
  const system_type& system_;
  const solve_options& o_;
  index_t n_;
  decltype(s_.make(0)) r_, p_, q_, z_;
  decltype(s_.make_slots(0)) numbers_; ///< slots, then the ring of residuals
  host_array<double> home_;            ///< the same on the host
  index_t chunk_ = 1;
  double norm_b_ = 0, goal_ = 0, residual_ = 0, first_residual_ = 0;
  solve_report report_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// Picks the text for what the preconditioner is.
template <vector_space S>
solve_report solve_by_cg(S& space, const linear_system<value_of<S>>& system, const solve_options& options) {
  using V = value_of<S>;
  switch (system.m.what()) {
  case any_preconditioner<V>::kind::identity:
    return conjugate_gradients<S, cg_steps::identity<V>>(space, system, options).run();
  case any_preconditioner<V>::kind::diagonal:
    return conjugate_gradients<S, cg_steps::diagonal<V>>(space, system, options).run();
  case any_preconditioner<V>::kind::general:
    break;
  }
  return conjugate_gradients<S, cg_steps::stored<V>>(space, system, options).run();
}

} // namespace furrow
