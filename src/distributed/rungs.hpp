// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solve/features.hpp"

#include <furrow/solve.hpp>

#include <string>
#include <string_view>
#include <vector>

/// What ranks try, one after the other. Nothing here talks to other ranks: the same arguments give the same rungs.
namespace furrow {

/// A solver and a preconditioner, and why.
struct rank_rung {
  std::string solver, precond, reason;
  index_t outlook = 0, most = 0; ///< as of `rung_plan`
  bool gathers = false;          ///< the first rank takes all rows, and climbs its own ladder
};

/// What a climb has shown of the matrix.
struct shown {
  bool indefinite = false, singular = false;
};

/// The ladder of one rank as far as it pays ranks to climb it together: methods with a diagonal, and behind them one
/// with more, where rows are many and few entries couple two ranks. Then the first rank gathers the rows, as it does
/// for complete factors and for least squares; what follows is for systems that do not fit it. `coupled`: entries that
/// couple two ranks.
std::vector<rank_rung> ladder_of_ranks(const features& f, index_t coupled, device where, shown what);

/// The solver that was named; or where only the preconditioner was, the methods to try with it.
std::vector<rank_rung> rungs_by_name(const solve_options& o, const features& f);

/// Throws `fault::usage`, and says what to take, for a solver or preconditioner that does not run on several ranks of
/// that kind of device.
void check_runs_on_ranks(const rank_rung& rung, int ranks, device where);

/// Whether it couples the ranks: "amg:sa", "amg:sa:3"; and the degree of its smoother.
bool lies_across_ranks(std::string_view precond);
int degree_of_amg(std::string_view precond);

/// "ic0" of "local:ic0", "jacobi" of "jacobi": what acts on the block of each rank.
std::string_view name_on_block(std::string_view precond);

} // namespace furrow
