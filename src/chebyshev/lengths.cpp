// SPDX-License-Identifier: BSD-3-Clause
#include "lengths.hpp"

#include <algorithm>
#include <limits>

namespace furrow::chebyshev {

index_t smooth_length(index_t n, int largest) {
  constexpr index_t limit = index_t(1) << 61;
  require(n >= 1 && n <= limit / 2, "a transform of that length was asked for");
  index_t best = std::numeric_limits<index_t>::max();
  for (index_t seven = 1; seven < 2 * n; seven *= 7) {
    for (index_t five = seven; five < 2 * n; five *= 5) {
      for (index_t three = five; three < 2 * n; three *= 3) {
        index_t m = three;
        while (m < n) m *= 2;
        best = std::min(best, m);
        if (largest < 3) break;
      }
      if (largest < 5) break;
    }
    if (largest < 7) break;
  }
  return best;
}

} // namespace furrow::chebyshev
