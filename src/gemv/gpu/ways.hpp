// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "way.hpp"

/// All ways, in the order in which they are tried. A file of along/ or across/ is a way of its name: CMake writes
/// gemv_ways.inc, which includes them and lists them by their `order` as `along_ways` and `across_ways`.
namespace furrow::dense {

template <class... Way> struct ways {};

/// Calls f with each way of a list, until one answers true; whether one did.
template <class F, class... Way> constexpr bool any_way(ways<Way...>, F f) {
  return (f.template operator()<Way>() || ...);
}

} // namespace furrow::dense

#include "gemv_ways.inc"
