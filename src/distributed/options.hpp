// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/communicator.hpp>
#include <furrow/solve.hpp>

namespace furrow {

/// The options of rank 0, on all ranks: its names and numbers; whom it asks and tells stays with it alone. Throws, on
/// all, what `check_options` throws there, and for what does not run on ranks. `p`: of the system.
solve_options options_of_first(communicator& c, const solve_options& mine, precision p);

/// A solver and a preconditioner, and why.
struct rank_rung {
  std::string solver, precond, reason;
};

/// What is tried, one after the other; a single one where the solver was named.
std::vector<rank_rung> rungs_on_ranks(const solve_options& o, bool symmetric, bool positive_diagonal,
                                      bool full_diagonal);

/// Throws `fault::usage`, and says what to take, for a solver or preconditioner that does not run on several ranks of
/// that kind of device.
void check_runs_on_ranks(const rank_rung& rung, int ranks, device where);

/// Whether it couples the ranks: "amg:sa", "amg:sa:3"; and the degree of its smoother.
bool lies_across_ranks(std::string_view precond);
int degree_of_amg(std::string_view precond);

/// "ic0" of "local:ic0", "jacobi" of "jacobi": what acts on the block of each rank.
std::string_view name_on_block(std::string_view precond);

} // namespace furrow
