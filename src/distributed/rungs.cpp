// SPDX-License-Identifier: BSD-3-Clause
#include "rungs.hpp"

#include "core/check.hpp"
#include "core/parameters.hpp"
#include "preconditioners/amg/chebyshev.hpp"
#include "preconditioners/entry.hpp"
#include "solve/rungs.hpp"
#include "solvers/entry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace furrow {
namespace {

constexpr std::string_view local = "local:";

/// Of so many rows at most one rank is as quick with what is more than a diagonal, and loses no coupling: two ranks
/// beside one with two threads take 38 and 12 ms for bicgstab with ilu of 3,600 rows, 124 and 92 of 19,600, 701 and 873
/// of 90,000. Between machines a step of one rank then takes about as long as two sums and an exchange.
constexpr index_t rows_for_one = 20000;

/// Of the entries, the share that couples two ranks from which on blocks and aggregates inside ranks lose: three bodies
/// of finite elements, cut in their order, have 0.37 to 0.45, and iterations with them did not move; meshes with 0.04
/// to 0.06 took as many as on one rank to twice as many.
constexpr double large_cut = 0.2;

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

bool is_diagonal(std::string_view precond) { return precond == "jacobi" || precond == "none"; }

/// What is set up on the GPUs. Another M of a block is made by the host, from its triplets: what comes before it is
/// given as many iterations as where one GPU hands over to the host.
bool set_up_on_gpus(std::string_view precond) { return is_diagonal(precond) || precond == "amg"; }

inventory inventory_of_ranks(device where) {
  return {.has_solver = has_solver,
          .has_preconditioner = has_preconditioner,
          .on_gpu = where.is_gpu(),
          .runs_on_gpu = set_up_on_gpus,
          .varies = varies,
          .suits = suits,
          .on_ranks = true};
}

/// The preconditioner of one rank as ranks have it: over all of them, or of each one's block.
std::string over_ranks(const std::string& precond) {
  if (is_diagonal(precond)) return precond;
  if (precond == "amg") return "amg:sa";
  return std::string(local) + precond;
}

/// Whether ranks can climb that rung together.
bool together_on_ranks(const rung_plan& p, device where) {
  return runs_on_ranks(find_solver(p.solver)) && (!where.is_gpu() || find_preconditioner(p.precond).on_gpu);
}

rank_rung gathering(std::string reason) {
  rank_rung rung;
  rung.reason = std::move(reason), rung.gathers = true;
  return rung;
}

std::vector<rung_plan> plans_for(const features& f, const inventory& there, shown what) {
  if (what.singular) return rungs_for_singular(f, there, what.indefinite);
  return what.indefinite ? rungs_for_indefinite(f, there) : rungs_for(f, there);
}

} // namespace

std::vector<rank_rung> ladder_of_ranks(const features& f, index_t coupled, device where, shown what) {
  const inventory there = inventory_of_ranks(where);
  const auto cut = double(coupled) / double(std::max<index_t>(f.nnz, 1));
  std::vector<rank_rung> list;
  bool gathers = false, had_more = false; // than a diagonal
  const auto gather_because = [&](std::string reason) {
    if (!std::exchange(gathers, true)) list.push_back(gathering(std::move(reason)));
  };
  for (const rung_plan& p : plans_for(f, there, what)) {
    const bool together = together_on_ranks(p, where), more = !is_diagonal(p.precond);
    if (!together) gather_because(fmt::format("{} with {} is for one rank", p.solver, p.precond));
    else if (had_more) gather_because("iterations of all ranks are slow");
    else if (more && f.rows <= rows_for_one)
      gather_because(fmt::format("{} rows are few, and {} couples all of them", f.rows, p.precond));
    else if (more && cut > large_cut)
      gather_because(fmt::format("{:.0f} % of the entries couple two ranks, which {} would not see", 100 * cut,
                                 over_ranks(p.precond)));
    had_more = had_more || more;
    if (together) list.push_back({p.solver, over_ranks(p.precond), p.reason, p.outlook, p.most});
  }
  gather_because("no iteration of all ranks got there");
  return list;
}

std::vector<rank_rung> rungs_by_name(const solve_options& o, const features& f) {
  if (o.solver != "auto") return {{o.solver, o.precond == "auto" ? "jacobi" : o.precond, "named"}};
  find_preconditioner(name_on_block(o.precond)); // throws for one that there is not
  std::vector<rank_rung> list;
  for (const rung_plan& p : rungs_with(name_on_block(o.precond), f, inventory_of_ranks(o.where)))
    list.push_back({p.solver, o.precond, p.reason, p.outlook, p.most});
  check(!list.empty(), fault::usage, "no method of this build takes the preconditioner {}", o.precond);
  return list;
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
    degree_of_amg(rung.precond);
    return;
  }
  check(by_rows || rung.precond.starts_with(local), fault::usage,
        "{} sees the rows of one rank only, on {}: say local:{}, block Jacobi over the ranks, or take amg:sa, jacobi "
        "or none",
        rung.precond, ranks == 1 ? "one rank too" : fmt::format("{} ranks", ranks), rung.precond);
}

} // namespace furrow
