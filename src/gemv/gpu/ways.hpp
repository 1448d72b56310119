// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "across/alone.hpp"
#include "across/cluster.hpp"
#include "across/few.hpp"
#include "across/flat.hpp"
#include "across/general.hpp"
#include "across/stream.hpp"
#include "along/general.hpp"
#include "along/lines.hpp"
#include "along/packed.hpp"
#include "along/rows.hpp"
#include "along/staged.hpp"
#include "along/strips.hpp"
#include "along/units.hpp"

/// All ways, in the order in which they are tried. Removing one is deleting its file and its word here.
namespace furrow::dense {

template <class... Way> struct ways {};

using along_ways =
    ways<along::packed, along::strips, along::rows, along::units, along::staged, along::lines, along::general>;
using across_ways = ways<across::stream, across::flat, across::few, across::alone, across::cluster, across::general>;

/// Calls f with each way of a list, until one answers true; whether one did.
template <class F, class... Way> constexpr bool any_way(ways<Way...>, F f) {
  return (f.template operator()<Way>() || ...);
}

} // namespace furrow::dense
