// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/batch.hpp>
#include <furrow/solver.hpp>

#include "callbacks.hpp"
#include "each_system.hpp"
#include "together.hpp"

#include "solve/arranging.hpp"
#include "solve/run.hpp"

#include "backends/cpu/own_team.hpp"
#include "backends/cpu/parallel.hpp"
#include "core/check.hpp"
#include "preconditioners/entry.hpp"
#include "solvers/entry.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <new>
#include <numeric>
#include <utility>

namespace furrow {
namespace {

template <class Solve>
batch_outcome outcome_of(const Solve& solve, shared_callbacks& callbacks, const std::string& way) {
  if (callbacks.stopped()) return {not_begun()};
  if (callbacks.out_of_time()) return {no_time_to_begin()};
  try {
    return {solve(callbacks.options()), {}, way};
  } catch (const error& e) {
    return {{}, e, way};
  } catch (const std::bad_alloc&) {
    return {{}, error(fault::memory, "out of memory"), way};
  }
}

void check_batch(const solve_options& options) {
  check_options(options);
  if (options.solver != "auto") find_solver(options.solver);
  if (options.precond != "auto") find_preconditioner(options.precond);
  refuse_arranging(options, "a batch solves");
  check(!options.coordinates, fault::usage, "coordinates belong to one matrix: leave them out of a batch");
}

/// What the device has for a launch; nothing where it is not to be had, which each system says of itself then.
small_systems::chip chip_there(device where) {
  try {
    return small_systems::chip_of(where);
  } catch (const error&) {
    return {};
  }
}

/// On a GPU: those that a launch serves, and then the others, one after the other.
template <class V>
std::vector<batch_outcome> on_a_gpu(const system_source<V>& systems, const solve_options& options,
                                    shared_callbacks& callbacks) {
  using namespace small_systems;
  const chip there = chip_there(options.where);
  auto said = solve_together<V>(
      systems, options, callbacks, there, [&] { return make_engine<V>(options.where); },
      there.block_bytes > 0 ? bytes_of_a_group(options.where) : 0);
  std::vector<batch_outcome> outcomes;
  for (index_t k = 0; k < systems.count; ++k) {
    taken& one = said[static_cast<std::size_t>(k)];
    if (one.outcome) outcomes.push_back(std::move(*one.outcome));
    else
      outcomes.push_back(outcome_of([&](const solve_options& o) { return systems.solve(k, o); }, callbacks,
                                    "by itself: " + one.alone));
  }
  return outcomes;
}

template <class V> std::vector<batch_outcome> on_the_cpu(const system_source<V>& systems, shared_callbacks& callbacks) {
  std::vector<batch_outcome> outcomes(static_cast<std::size_t>(systems.count));
  const auto one = [&](index_t k, const char* way) {
    outcomes[static_cast<std::size_t>(k)] =
        outcome_of([&](const solve_options& o) { return systems.solve(k, o); }, callbacks, way);
  };
  std::vector<index_t> order(static_cast<std::size_t>(systems.count));
  std::iota(order.begin(), order.end(), index_t(0));
  const auto large =
      std::stable_partition(order.begin(), order.end(), [&](index_t k) { return systems.size(k) <= side_by_side; });
  const index_t small = large - order.begin();
  std::atomic<index_t> next{0};
  cpu::for_each_task(std::min<index_t>(cpu::thread_count(), small), [&](index_t thread) {
    const cpu::own_team alone(1, static_cast<int>(thread) + 1);
    for (index_t k; (k = next.fetch_add(1)) < small;)
      one(order[static_cast<std::size_t>(k)], "by one thread, beside others");
  });
  for (auto k = large; k != order.end(); ++k) one(*k, "by all threads");
  return outcomes;
}

} // namespace

template <class V>
std::vector<batch_outcome> for_each_system(const system_source<V>& systems, const solve_options& options) {
  check_batch(options);
  shared_callbacks callbacks(options);
  return options.where.is_gpu() ? on_a_gpu(systems, options, callbacks) : on_the_cpu(systems, callbacks);
}

/// Systems are solved at the same time, or one after the other: an x in the memory of another vector would get, and
/// give, numbers of another system.
template <class V, class I> void check_places(std::span<const batch_system<V, I>> systems) {
  struct vector_there {
    const V *begin, *end;
    index_t system;
    bool is_x;
    const char* name() const { return is_x ? "x" : "b"; }
  };
  std::vector<vector_there> all;
  for (index_t k = 0; k < std::ssize(systems); ++k) {
    const batch_system<V, I>& s = systems[k];
    if (s.b.data && s.b.size > 0) all.push_back({s.b.begin(), s.b.end(), k, false});
    if (s.x.data && s.x.size > 0) all.push_back({s.x.begin(), s.x.end(), k, true});
  }
  const std::less<const V*> before; // of unrelated memory, too
  std::ranges::sort(all, before, &vector_there::begin);
  const vector_there *last = nullptr, *last_x = nullptr; // those that reach furthest so far
  for (const vector_there& now : all) {
    const vector_there* const other = now.is_x ? last : last_x;
    if (other && before(now.begin, other->end))
      throw error(fault::usage, fmt::format("{} of system {} and {} of system {} share memory: give each x its own",
                                            other->name(), other->system, now.name(), now.system));
    if (!last || before(last->end, now.end)) last = &now;
    if (now.is_x && (!last_x || before(last_x->end, now.end))) last_x = &now;
  }
}

template <class V, class I>
std::vector<batch_outcome> solve_batch(std::span<const batch_system<V, I>> systems, const solve_options& options) {
  check_places(systems);
  system_source<V> source;
  source.count = std::ssize(systems);
  source.size = [&](index_t k) { return systems[k].a.shape.rows + systems[k].a.val.size; };
  source.solve = [&](index_t k, const solve_options& o) {
    const batch_system<V, I>& s = systems[k];
    return solver<V>(s.a, o).solve(s.b, s.x);
  };
  source.triplets = [&](index_t k) { return to_coo(systems[k].a); };
  source.b = [&](index_t k) { return systems[k].b; };
  source.x = [&](index_t k) { return systems[k].x; };
  return for_each_system(source, options);
}

#define FURROW_BATCH(V)                                                                                                \
  template std::vector<batch_outcome> for_each_system(const system_source<V>&, const solve_options&);                  \
  template std::vector<batch_outcome> solve_batch(std::span<const batch_system<V, std::int32_t>>,                      \
                                                  const solve_options&);                                               \
  template std::vector<batch_outcome> solve_batch(std::span<const batch_system<V, std::int64_t>>, const solve_options&);
FURROW_BATCH(double)
FURROW_BATCH(float)
#undef FURROW_BATCH

} // namespace furrow
