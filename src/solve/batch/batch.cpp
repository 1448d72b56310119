// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/batch.hpp>
#include <furrow/solver.hpp>

#include "each_system.hpp"
#include "solve/run.hpp"

#include "backends/cpu/own_team.hpp"
#include "backends/cpu/parallel.hpp"
#include "core/check.hpp"
#include "core/clock.hpp"
#include "preconditioners/entry.hpp"
#include "solvers/entry.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <new>
#include <numeric>
#include <utility>

namespace furrow {
namespace {

/// The callbacks of a caller, one call at a time, and what they said.
class shared_callbacks {
public:
  explicit shared_callbacks(const solve_options& o) : given_(o), began_(now()) {}

  bool stopped() const { return stopped_; }
  /// For one system: what is left of the time, and callbacks that come here.
  solve_options options() {
    solve_options o = given_;
    if (std::isfinite(o.time_limit)) o.time_limit = std::max(0.0, o.time_limit - (now() - began_));
    if (given_.watch || given_.monitor || given_.cancelled) {
      o.watch = [this](const progress& p) { return goes_on([&] { return !given_.watch || given_.watch(p); }); };
      o.cancelled = [this] { return !goes_on([&] { return !given_.cancelled || !given_.cancelled(); }); };
    }
    if (given_.monitor)
      o.monitor = [this](const progress& p, cview<double> x) { return goes_on([&] { return given_.monitor(p, x); }); };
    if (given_.announce)
      o.announce = [this](const memory_estimate& m) {
        const std::lock_guard lock(one_at_a_time_);
        given_.announce(m);
      };
    return o;
  }

private:
  /// Whether nobody has said stop, this one included.
  template <class Ask> bool goes_on(const Ask& ask) {
    if (stopped_) return false;
    const std::lock_guard lock(one_at_a_time_);
    if (!stopped_ && !ask()) stopped_ = true;
    return !stopped_;
  }

  const solve_options& given_;
  const double began_;
  std::mutex one_at_a_time_;
  std::atomic<bool> stopped_{false};
};

solve_report not_begun() {
  solve_report r;
  r.why = status::interrupted;
  r.message = "interrupted before it began";
  r.relative_residual = std::nan("");
  return r;
}

template <class Solve> batch_outcome outcome_of(const Solve& solve, shared_callbacks& callbacks) {
  if (callbacks.stopped()) return {not_begun()};
  try {
    return {solve(callbacks.options())};
  } catch (const error& e) {
    return {{}, e};
  } catch (const std::bad_alloc&) {
    return {{}, error(fault::memory, "out of memory")};
  }
}

} // namespace

std::vector<batch_outcome> for_each_system(index_t count, const solve_options& options,
                                           const std::function<index_t(index_t)>& size,
                                           const std::function<solve_report(index_t, const solve_options&)>& solve) {
  check_options(options);
  if (options.solver != "auto") find_solver(options.solver);
  if (options.precond != "auto") find_preconditioner(options.precond);
  check(!options.coordinates, fault::usage, "coordinates belong to one matrix: leave them out of a batch");
  std::vector<batch_outcome> outcomes(static_cast<std::size_t>(count));
  shared_callbacks callbacks(options);
  const auto one = [&](index_t k) {
    outcomes[static_cast<std::size_t>(k)] = outcome_of([&](const solve_options& o) { return solve(k, o); }, callbacks);
  };

  std::vector<index_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), index_t(0));
  const auto large = options.where.is_gpu() ? order.begin()
                                            : std::stable_partition(order.begin(), order.end(),
                                                                    [&](index_t k) { return size(k) <= side_by_side; });
  const index_t small = large - order.begin();
  std::atomic<index_t> next{0};
  cpu::for_each_task(std::min<index_t>(cpu::thread_count(), small), [&](index_t thread) {
    const cpu::own_team alone(1, static_cast<int>(thread) + 1);
    for (index_t k; (k = next.fetch_add(1)) < small;) one(order[static_cast<std::size_t>(k)]);
  });
  for (auto k = large; k != order.end(); ++k) one(*k);
  return outcomes;
}

template <class V, class I>
std::vector<batch_outcome> solve_batch(std::span<const batch_system<V, I>> systems, const solve_options& options) {
  return for_each_system(
      std::ssize(systems), options, [&](index_t k) { return systems[k].a.shape.rows + systems[k].a.val.size; },
      [&](index_t k, const solve_options& o) {
        const batch_system<V, I>& s = systems[k];
        return solver<V>(s.a, o).solve(s.b, s.x);
      });
}

template std::vector<batch_outcome> solve_batch(std::span<const batch_system<double, std::int32_t>>,
                                                const solve_options&);
template std::vector<batch_outcome> solve_batch(std::span<const batch_system<double, std::int64_t>>,
                                                const solve_options&);
template std::vector<batch_outcome> solve_batch(std::span<const batch_system<float, std::int32_t>>,
                                                const solve_options&);
template std::vector<batch_outcome> solve_batch(std::span<const batch_system<float, std::int64_t>>,
                                                const solve_options&);

} // namespace furrow
