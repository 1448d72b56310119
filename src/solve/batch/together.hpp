// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "callbacks.hpp"
#include "each_system.hpp"
#include "engine.hpp"

#include <functional>
#include <optional>
#include <string>

namespace furrow::small_systems {

/// What became of a system: an outcome, or why it goes by itself.
struct taken {
  std::optional<batch_outcome> outcome;
  std::string alone;
};

/// Solves those that a launch can serve, in groups that fit the memory, and says of the others why they go by
/// themselves. `made`: an engine, once there is something for it.
template <class V>
std::vector<taken> solve_together(const system_source<V>& systems, const solve_options& options,
                                  shared_callbacks& callbacks, const chip& there,
                                  const std::function<std::unique_ptr<engine<V>>()>& make, double most_bytes);

/// Bytes that a group may take of a GPU.
double bytes_of_a_group(device where);

} // namespace furrow::small_systems
