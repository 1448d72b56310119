// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/communicator.hpp>
#include <furrow/solve.hpp>

namespace furrow {

/// The options of rank 0, on all ranks: its names and numbers; whom it asks and tells stays with it alone. Throws, on
/// all, what `check_options` throws there, and for what does not run on ranks. `p`: of the system.
solve_options options_of_first(communicator& c, const solve_options& mine, precision p);

} // namespace furrow
