// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "strength.hpp"

namespace furrow::amg {

/// Nodes of a graph that are more than two steps from each other, as many as fit: 1 in the set, 0 not. A node without
/// couplings is not in it. Rounds: each undecided node has a word, a hash of (node, round) over its number; t = the
/// least word among itself and its neighbours, then the least t; a node whose own word that is joins, one that sees a
/// member drops out. Order-free and exact in integers, so that any number of threads, and a GPU, find the same set.
/// N. Bell, S. Dalton, L. Olson, Exposing fine-grained parallelism in algebraic multigrid methods, 2012; words, lists
/// and fresh hashes as B. Kelley and S. Rajamanickam, 2022.
host_array<std::uint8_t> independent_at_distance_two(const strong_graph& g);

/// Nodes put together: of[i] is the aggregate of node i, or -1 for one without couplings.
struct aggregates {
  host_array<std::int32_t> of;
  index_t count = 0;
};

/// An aggregate for each root, in the order of the nodes: its neighbours, and then of the nodes left over those that
/// are most strongly coupled to it, by the sum of the weights, ties to the smaller number.
aggregates aggregates_of(const strong_graph& g, const host_array<std::uint8_t>& root);

} // namespace furrow::amg
