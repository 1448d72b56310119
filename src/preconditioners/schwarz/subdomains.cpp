// SPDX-License-Identifier: BSD-3-Clause
#include "subdomains.hpp"

#include "preconditioners/stoppable_tasks.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/check.hpp"
#include "matrix/permute.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

namespace furrow::schwarz_preconditioner {

subdomains cut(const adjacency& g, index_t count, index_t overlap) {
  subdomains s{reverse_cuthill_mckee(g), std::vector<subdomains::part>(static_cast<std::size_t>(count))};
  const auto place = inverse_permutation(as_cview(s.order));
  std::atomic<index_t> together = 0;
  const auto take = [&](index_t k) {
    subdomains::part& p = s.parts[std::size_t(k)];
    p.first = cpu::part_begin(place.size(), count, k);
    p.last = cpu::part_begin(place.size(), count, k + 1);
    p.rows.resize(static_cast<std::size_t>(p.last - p.first));
    std::iota(p.rows.begin(), p.rows.end(), static_cast<std::int32_t>(p.first));
    std::vector<std::int32_t> rim = p.rows, reached, all;
    for (index_t layer = 0; layer < overlap && !rim.empty(); ++layer) {
      stops_set_up::at_row(0);
      reached.clear();
      for (const std::int32_t i : rim)
        for (index_t e = g.row_ptr[s.order[i]]; e < g.row_ptr[s.order[i] + 1]; ++e) reached.push_back(place[g.col[e]]);
      std::ranges::sort(reached);
      reached.erase(std::unique(reached.begin(), reached.end()), reached.end());
      rim.clear();
      all.clear();
      std::ranges::set_difference(reached, p.rows, std::back_inserter(rim));
      std::ranges::merge(p.rows, rim, std::back_inserter(all));
      std::swap(p.rows, all);
    }
    together += index_t(p.rows.size());
    check(together <= std::numeric_limits<std::int32_t>::max(), fault::usage,
          "the {} subdomains of schwarz have more than {} rows together: take fewer of them or less overlap", count,
          std::numeric_limits<std::int32_t>::max());
  };
  for_each_stoppable(count, [&] { return take; });
  return s;
}

} // namespace furrow::schwarz_preconditioner
