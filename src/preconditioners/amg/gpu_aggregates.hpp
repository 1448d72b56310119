// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "strength.hpp"

namespace furrow::amg {

/// As `aggregates` of the host.
struct device_aggregates {
  gpu_array<std::int32_t> of;
  index_t count = 0;
};
/// As `aggregates_of` the roots of `independent_at_distance_two`, on the current GPU: made of integers, so the same.
/// Waits twice a round, some ten times.
device_aggregates aggregates_of(const coupling_graph<gpu_array>& graph);

} // namespace furrow::amg
