// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solve/setup_clock.hpp"

#include <furrow/communicator.hpp>

#include <vector>

namespace furrow {

/// The parts of the set-up of the rank that took longest for it, on all. All ranks call it.
std::vector<setup_part> parts_of_slowest(communicator& c, double seconds, const std::vector<setup_part>& mine);

} // namespace furrow
