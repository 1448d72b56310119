// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "strength.hpp"

#include "generate/randomness.hpp"

/// What a node does in a round of `independent_at_distance_two`, and where it goes in `aggregates_of`: on the host and
/// on a GPU alike.
namespace furrow::amg {

using word = std::uint32_t;
inline constexpr word in_set = 0, out_of_set = ~word(0);

FURROW_HD constexpr bool is_decided(word w) { return w == in_set || w == out_of_set; }

/// The word of undecided node i: a hash over its number, which takes `bits` bits, and is neither 0 nor all ones.
FURROW_HD constexpr word word_of(index_t i, int round, int bits) {
  const std::uint64_t hash = randomness(static_cast<std::uint64_t>(round)).at(i);
  const word high = bits < 32 ? static_cast<word>(hash >> 32) >> bits << bits : word(0);
  return high | static_cast<word>(i + 1);
}

FURROW_HD inline word least_around(const graph_view& g, const word* w, index_t i) {
  word least = w[i];
  for (index_t k = g.first[i]; k < g.first[i + 1]; ++k) {
    const word other = w[g.to[k]];
    if (other < least) least = other;
  }
  return least;
}

/// The word of an undecided node after a round; `near` holds the least word around each node.
FURROW_HD inline word decided(const graph_view& g, const word* near, word own, index_t i) {
  const word least = least_around(g, near, i);
  return least == own ? in_set : least == in_set ? out_of_set : own;
}

/// The number of the first root among node i and its neighbours, or -1.
FURROW_HD inline std::int32_t root_beside(const graph_view& g, const std::int32_t* number, index_t i) {
  std::int32_t found = number[i];
  for (index_t k = g.first[i]; k < g.first[i + 1] && found < 0; ++k) found = number[g.to[k]];
  return found;
}

/// The aggregate that node i is most strongly coupled to among those that `of` names, or -1.
FURROW_HD inline std::int32_t strongest(const graph_view& g, const std::int32_t* of, index_t i) {
  std::int32_t best = -1;
  double most = 0;
  for (index_t k = g.first[i]; k < g.first[i + 1]; ++k) {
    const std::int32_t candidate = of[g.to[k]];
    if (candidate < 0) continue;
    double sum = 0;
    for (index_t l = g.first[i]; l < g.first[i + 1]; ++l)
      if (of[g.to[l]] == candidate) sum += double(g.weight[l]);
    if (sum > most || (sum == most && candidate < best)) {
      most = sum;
      best = candidate;
    }
  }
  return best;
}

} // namespace furrow::amg
