// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/communicator.hpp>

namespace furrow {

/// Threads for this rank, where it has a process of its own: those processors that it may run on, and where ranks of
/// one machine share some, its share of all that they may use; one at least. All ranks call it.
int processors_of_rank(communicator& c);

} // namespace furrow
