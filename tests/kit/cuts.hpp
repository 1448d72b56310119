// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <algorithm>
#include <vector>

namespace furrow::kit {

/// Begins of parts of n elements: even, all with one rank, and so that most pieces of a file lie in two parts.
inline std::vector<std::vector<index_t>> cuts(index_t n, int ranks) {
  std::vector<index_t> even, one(static_cast<std::size_t>(ranks) + 1, 0), crooked = one;
  for (int r = 0; r <= ranks; ++r) even.push_back(n * r / ranks);
  for (int r = 1; r <= ranks; ++r) {
    const auto at = static_cast<std::size_t>(r);
    one[at] = r > ranks / 2 ? n : 0;
    crooked[at] = r == ranks ? n : std::min(n, r * index_t(7000) + (r > 2 ? n / 2 : 0));
  }
  return {even, one, crooked};
}

} // namespace furrow::kit
