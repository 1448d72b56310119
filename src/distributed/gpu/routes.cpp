// SPDX-License-Identifier: BSD-3-Clause
#include "routes.hpp"

#include <algorithm>

namespace furrow::gpu {

halo_routes routes_of(communicator& c, const halo_plan& plan) {
  const auto ranks = static_cast<std::size_t>(c.size()), me = static_cast<std::size_t>(c.rank());
  std::vector<index_t> begins(ranks, 0), all(ranks * ranks); // where each of the others writes
  for (const auto& r : plan.receives) begins[static_cast<std::size_t>(r.rank)] = r.first;
  c.gather_all(bytes_of(cview<index_t>(begins)), bytes_of(view<index_t>(all)));
  halo_routes routes;
  routes.arrive = plan.columns.size();
  for (const auto& s : plan.sends) {
    routes.sends.push_back({s.rank, s.first, s.first + s.count, all[static_cast<std::size_t>(s.rank) * ranks + me]});
    routes.neighbours.push_back(s.rank);
  }
  for (const auto& r : plan.receives) routes.neighbours.push_back(r.rank);
  std::ranges::sort(routes.neighbours);
  routes.neighbours.erase(std::unique(routes.neighbours.begin(), routes.neighbours.end()), routes.neighbours.end());
  return routes;
}

} // namespace furrow::gpu
