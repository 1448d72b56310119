// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/entry.hpp"

#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace furrow {

/// Throws `fault::usage` for numbers that no solve has, and for coordinates that are none.
void check_options(const solve_options& o);

/// Of a solve that ended before it started: nothing is known of its residual.
inline solve_report not_started(status why, std::string message) {
  solve_report report;
  report.why = why;
  report.message = std::move(message);
  report.relative_residual = std::numeric_limits<double>::quiet_NaN();
  return report;
}

/// Of a right-hand side or a system that has not begun when a caller says stop.
inline solve_report not_begun() { return not_started(status::interrupted, "interrupted before it began"); }

/// The same of a system for which those before it have left no time.
inline solve_report no_time_to_begin() {
  return not_started(status::max_iterations, "stopped by the limit on its time before it began");
}

/// A refusal begins no iteration that would find the first guess to be an answer.
void accept_first_guess(solve_report& report, double rtol);

/// Right-hand sides that are solved one after the other: who stops one of them means those that follow, too.
class one_after_the_other {
public:
  explicit one_after_the_other(const solve_options& o, bool stopped = false) : o_(o), stopped_(stopped) {}
  bool stopped() const { return stopped_; }
  template <class Solve> solve_report operator()(const Solve& solve) {
    if (stopped_) return not_begun();
    solve_report report = solve();
    stopped_ = report.why == status::interrupted || (o_.cancelled && o_.cancelled());
    return report;
  }

private:
  const solve_options& o_;
  bool stopped_;
};

/// Whether somebody is told of single iterations, which are those of one right-hand side.
inline bool is_watched_closely(const solve_options& o) { return o.monitor || o.watch_every > 0; }

/// Whoever is told of x is told of shown(x), a `host_array<double>`.
template <class F> void tell_of(solve_options& o, F shown) {
  if (o.monitor)
    o.monitor = [told = std::move(o.monitor), shown](const progress& p, cview<double> x) {
      const host_array<double> own = shown(x);
      return told(p, as_cview(own));
    };
  if (o.watch)
    o.watch = [told = std::move(o.watch), shown](const progress& p) {
      progress own = p;
      if (p.x) own.x = [&p, shown] { return shown(as_cview(p.x())); };
      return told(own);
    };
}

/// Runs the method on vectors in host memory, `system.b` and `system.x`; for a GPU they go there and x comes back. A
/// right-hand side whose squares would overflow or vanish is scaled by a power of two and x comes back in its own
/// units; an answer that leaves the range of V on the way back is not said to be one. With `system.ranks` all ranks
/// call it, each with its parts.
template <class V>
solve_report run_on_host_vectors(const solver_entry& method, const linear_system<V>& system, const solve_options& o);

/// Whether it would be scaled.
template <class V> bool needs_scale(cview<V> b);

/// Whether the host need not look at vectors in the memory of a GPU: b is not 0, all elements are finite, and b needs
/// no scale.
template <class V> bool are_plain_on_gpu(cview<V> b, cview<V> x);

/// Runs the method on vectors in the memory of `o.where`, a GPU, where they lie: nothing of them passes the host. Empty
/// for vectors that the host has to look at: b = 0, elements that are not finite, a right-hand side to be scaled.
template <class V>
std::optional<solve_report> run_on_gpu_vectors(const solver_entry& method, const linear_system<V>& system,
                                               const solve_options& o);

/// The first element that is not finite, as a sentence that says whose; empty where all are. `first`: of the elements
/// in the vector that people know.
template <class V> std::string not_finite(cview<V> v, const char* whose, index_t first = 0);

/// |b - A x| / |b| for a solve that ends before it starts. Serial.
template <class V> double residual_of_triplets(const coo<V>& a, cview<V> b, cview<V> x);

} // namespace furrow
