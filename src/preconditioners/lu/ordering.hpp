// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "column_graph.hpp"

#include "core/host_room.hpp"

#include <limits>
#include <string_view>

namespace furrow::lu {

/// Orders of the columns that keep the Cholesky factor of A + A' sparse: column j stands at place j of the answer.
/// `cheapest`: the one by which ordering and factors together are expected to take the least.
enum class order_wish { cheapest, degree, dissection };

/// The order of the columns that is known so far.
struct column_order {
  host_array<std::int32_t> place{};
  bool dissected = false;
  bool best = false; ///< whether all was tried that the wish allows
};

/// Where an order by minimum degree ends with `order_fills_in`.
struct order_bounds {
  static constexpr double none = std::numeric_limits<double>::infinity();
  double squares = none; ///< of the counts of the columns of the factor, added up
  double steps = none;   ///< from neighbour to neighbour where it finds degrees
};
struct order_fills_in {
  bool by_steps = false; ///< shown by these
};

/// By SuperLU's multiple minimum degree (J. W. H. Liu, Modification of the minimum-degree algorithm by multiple
/// elimination, 1985). Hears `stops_set_up` at every sixteenth node and every round of nodes. Takes at most `budget`
/// bytes; throws `fault::memory` beyond, `fault::usage` in a build without SuperLU, and `order_fills_in` as soon as
/// the nodes so far, a column of each, show that it goes beyond `most`.
host_array<std::int32_t> minimum_degree(const columns& a, host_room budget, const order_bounds& most = {});

/// By METIS's nested dissection, of blocks (G. Karypis, V. Kumar, A fast and high quality multilevel scheme for
/// partitioning irregular graphs, 1998): down to pieces of 20,000 blocks separator by separator, between which
/// `stops_set_up` is heard; the first of a million takes 0.6 s. The same order for the same graph and library. Throws
/// `fault::device` without METIS, with what to install, and `fault::memory` where its memory, some 60 bytes for each
/// neighbour and 200 for each block, is not there.
host_array<std::int32_t> nested_dissection(const column_graph& g, host_room budget);
bool has_dissection();
/// Seconds that it takes on two cores of an Intel Xeon, about.
double seconds_of_dissection(const column_graph& g);

} // namespace furrow::lu
