// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include "load/tell.hpp"

#include "core/check.hpp"
#include "solve/arranging.hpp"
#include "solve/checkpoint_monitor.hpp"
#include "solve/run.hpp"

namespace furrow {
namespace {

/// What travels.
struct packed_options {
  std::array<std::array<char, 64>, 4> names{};
  double rtol = 0, atol = 0, expected_products = 0, time_limit = 0;
  index_t max_iterations = 0, outlook = 0;
  bool assume_symmetric = false, history = false;
  bool monitored = false; ///< the first one has a monitor: all bring it their x
  index_t monitor_every = 1, watch_every = 0;
  double monitor_seconds = 0;
};

void check_on_ranks(const solve_options& o, precision p, device where) {
  check_options(o);
  check(!o.where.is_gpu() || o.where == where, fault::usage,
        "ranks compute on {}, and not on {}: leave the device out, or begin them with it, by run_ranks of devices or "
        "with_gpus",
        describe(where), describe(o.where));
  check(p == precision::f32 || o.values == p, fault::usage,
        "ranks solve in the precision of the system, f64: f32 is for a solve without ranks");
  check(!o.coordinates, fault::usage, "coordinates of nodes are of use to amg:sa on one rank alone: leave them out");
  refuse_arranging(o, "ranks solve");
  check(!o.tune, fault::usage, "formats are not measured on ranks: leave tune out, or name one");
  for (const std::string& name : {o.solver, o.precond, o.format, o.kernel})
    check(name.size() < 64, fault::usage, "'{}' is longer than a name on ranks may be, 63 letters", name);
}

packed_options pack(const solve_options& o) {
  packed_options p;
  const std::string* const names[] = {&o.solver, &o.precond, &o.format, &o.kernel};
  for (std::size_t k = 0; k < 4; ++k) std::ranges::copy(*names[k], p.names[k].begin());
  p.rtol = o.rtol, p.atol = o.atol, p.expected_products = o.expected_products, p.time_limit = o.time_limit;
  p.max_iterations = o.max_iterations, p.outlook = o.outlook;
  p.assume_symmetric = o.assume_symmetric, p.history = o.history;
  p.monitored = bool(o.monitor), p.monitor_every = o.monitor_every, p.monitor_seconds = o.monitor_seconds;
  p.watch_every = o.watch_every;
  return p;
}

/// Of the monitor of rank 0. Only the order of this rank's part is looked at, which is no caller's.
monitor_of_x follower_of(const monitor_of_x& mine) {
  const auto* const kept = mine.target<checkpoint_monitor>();
  return checkpoint_monitor{nullptr, {}, {}, kept ? kept->part_in_order : nullptr};
}

} // namespace

solve_options options_of_first(communicator& c, const solve_options& mine, precision p) {
  packed_options packed;
  alike(c, [&] {
    if (c.rank() != 0) return;
    check_on_ranks(mine, p, c.where());
    packed = pack(mine);
  });
  packed = gather_each(c, packed).front();
  solve_options o;
  if (c.rank() == 0) o = mine;
  std::string* const names[] = {&o.solver, &o.precond, &o.format, &o.kernel};
  for (std::size_t k = 0; k < 4; ++k) *names[k] = packed.names[k].data();
  o.rtol = packed.rtol, o.atol = packed.atol, o.expected_products = packed.expected_products,
  o.time_limit = packed.time_limit;
  o.max_iterations = packed.max_iterations, o.outlook = packed.outlook;
  o.assume_symmetric = packed.assume_symmetric, o.history = packed.history;
  o.monitor_every = packed.monitor_every, o.monitor_seconds = packed.monitor_seconds;
  o.watch_every = packed.watch_every;
  if (packed.monitored && c.rank() > 0) o.monitor = follower_of(mine.monitor);
  o.values = p;
  o.where = c.where();
  return o;
}

} // namespace furrow
