// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include "together.hpp"

#include "core/check.hpp"
#include "core/parameters.hpp"
#include "preconditioners/amg/chebyshev.hpp"
#include "solve/arranging.hpp"
#include "solve/run.hpp"
#include "solvers/entry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace furrow {
namespace {

constexpr std::string_view local = "local:";

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
        "ranks compute on {}, and not on {}: they have a GPU each where they begin with one, as by --device gpu:0,1",
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

/// Not those with a set-up of their own, nor those that need A', nor one whose M is to be the inverse of all of A.
bool runs_on_ranks(const solver_entry& method) {
  return !method.set_up && !method.needs.transposed && method.precond != "lu";
}

/// Names of solvers that run on ranks.
std::vector<std::string_view> solvers_of_ranks() {
  std::vector<std::string_view> names;
  for (const solver_entry* e : solver_entries())
    if (runs_on_ranks(*e)) names.push_back(e->name);
  return names;
}

} // namespace

solve_options options_of_first(communicator& c, const solve_options& mine, precision p) {
  packed_options packed;
  together(c, [&] {
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
  if (packed.monitored && !o.monitor) o.monitor = [](const progress&, cview<double>) { return true; };
  o.values = p;
  o.where = c.where();
  return o;
}

std::vector<rank_rung> rungs_on_ranks(const solve_options& o, bool symmetric, bool positive_diagonal,
                                      bool full_diagonal) {
  const auto with = [&](const char* usual) { return o.precond == "auto" ? std::string(usual) : o.precond; };
  if (o.solver != "auto") return {{o.solver, with("jacobi"), "named"}};
  if (symmetric && positive_diagonal)
    return {{"cg", with("jacobi"), "symmetric with a positive diagonal"},
            {"minres", with("jacobi"), "symmetric, and not definite"}};
  if (symmetric) return {{"minres", with("jacobi"), "symmetric, and its diagonal is not positive"}};
  const char* const usual = full_diagonal ? "jacobi" : "none";
  return {{"bicgstab", with(usual), "not symmetric"}, {"gmres", with(usual), "where bicgstab fails"}};
}

bool lies_across_ranks(std::string_view precond) { return precond == "amg:sa" || precond.starts_with("amg:sa:"); }

int degree_of_amg(std::string_view precond) {
  constexpr int usual = 2;
  return static_cast<int>(
      entry_parameters("amg:sa[:DEGREE]", take_apart(precond).parameters).whole(1, usual, 1, amg::most_degree));
}

std::string_view name_on_block(std::string_view precond) {
  return precond.starts_with(local) ? precond.substr(local.size()) : precond;
}

void check_runs_on_ranks(const rank_rung& rung, int ranks, device where) {
  const solver_entry& method = find_solver(rung.solver);
  check(runs_on_ranks(method), fault::usage, "{} does not run on ranks yet: choose one of {}", method.name,
        fmt::join(solvers_of_ranks(), ", "));
  method.vectors(take_apart(rung.solver).parameters); // throws for parameters that make no sense
  const std::string_view name = name_on_block(rung.precond);
  find_preconditioner(name);
  const bool by_rows = rung.precond == "none" || rung.precond == "jacobi";
  check(!where.is_gpu() || rung.solver != "cg_tutorial", fault::usage,
        "cg_tutorial keeps its scalars on the host, and does not run on ranks with GPUs: take cg");
  if (lies_across_ranks(rung.precond)) {
    check(!where.is_gpu(), fault::usage,
          "{} over ranks runs on processors alone: say local:{}, multigrid of the block of each GPU, or jacobi",
          rung.precond, rung.precond);
    degree_of_amg(rung.precond);
    return;
  }
  check(by_rows || rung.precond.starts_with(local), fault::usage,
        "{} sees the rows of one rank only, on {}: say local:{}, block Jacobi over the ranks, or take amg:sa, jacobi "
        "or none",
        rung.precond, ranks == 1 ? "one rank too" : fmt::format("{} ranks", ranks), rung.precond);
}

} // namespace furrow
