// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/communicator.hpp>

namespace furrow {

/// The sum of `mine`, in bytes, over the ranks that run on this rank's machine. All ranks call it.
double of_machine(communicator& c, double mine);

/// Throws `fault::memory`, on all ranks, where those of one machine are about to take more memory than can be had
/// there: `mine` is what this rank will. Returns their sum on this machine.
double check_memory_of_machine(communicator& c, double mine);

/// The same of the memory of each GPU that ranks have; `mine` is what this rank takes on its own one.
void check_memory_of_gpus(communicator& c, double mine);
/// Whether there is as much everywhere; on all ranks alike.
bool fits_on_gpus(communicator& c, double mine);

} // namespace furrow
