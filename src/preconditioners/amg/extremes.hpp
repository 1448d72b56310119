// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/parallel.hpp"
#include "levels.hpp"

#include <limits>
#include <vector>

namespace furrow::amg {

/// Of the diagonal entries own(i) of so many rows. Parallel.
template <class Own> diagonal_extremes extremes_over_rows(index_t rows, Own own) {
  const diagonal_extremes none{std::numeric_limits<double>::infinity(), 0};
  const index_t parts = std::clamp<index_t>(rows / (1 << 13), 1, cpu::thread_count());
  std::vector<diagonal_extremes> of_part(static_cast<std::size_t>(parts), none);
  cpu::for_each_task(parts, [&](index_t part) {
    auto [low, high] = none;
    for (index_t i = cpu::part_begin(rows, parts, part); i < cpu::part_begin(rows, parts, part + 1); ++i) {
      const double d = own(i);
      low = std::min(low, d), high = std::max(high, d);
    }
    of_part[part] = {low, high};
  });
  diagonal_extremes all = none;
  for (const auto& [low, high] : of_part) all = {std::min(all.least, low), std::max(all.largest, high)};
  return all;
}

} // namespace furrow::amg
