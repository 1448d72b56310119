// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <cstdint>
#include <numeric>

namespace furrow::kit {

/// The order in which nothing moves: element i stands at place i.
inline host_array<std::int32_t> as_it_stands(index_t n) {
  host_array<std::int32_t> place(n);
  std::iota(place.begin(), place.end(), 0);
  return place;
}

} // namespace furrow::kit
