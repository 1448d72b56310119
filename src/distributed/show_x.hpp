// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solve/checkpoint_monitor.hpp"

namespace furrow {

/// Shows x, of which each rank has a part, to the monitor of rank 0: a keeper of checkpoints gets it in parts, any
/// other one all of it. All ranks call it; whether to go on, the same on all of them.
bool show_x_to_first(communicator& c, const monitor_of_x& monitor, const progress& now, cview<double> mine);

} // namespace furrow
