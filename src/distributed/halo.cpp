// SPDX-License-Identifier: BSD-3-Clause
#include "halo.hpp"

#include "partition.hpp"

namespace furrow {

halo_plan plan_halo(communicator& c, const std::vector<index_t>& begins, host_array<std::int32_t> columns) {
  const auto ranks = static_cast<std::size_t>(c.size()), me = static_cast<std::size_t>(c.rank());
  halo_plan plan;
  std::vector<index_t> wanted(ranks, 0); // of each of the others
  for (index_t k = 0; k < columns.size();) {
    const int owner = owner_of(begins, columns[k]);
    const index_t first = k, end = begins[static_cast<std::size_t>(owner) + 1];
    while (k < columns.size() && columns[k] < end) ++k;
    plan.receives.push_back({owner, first, k - first});
    wanted[static_cast<std::size_t>(owner)] = k - first;
  }
  std::vector<index_t> all(ranks * ranks);
  c.gather_all(bytes_of(cview<index_t>(wanted)), bytes_of(view<index_t>(all)));
  index_t total = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    const index_t count = all[r * ranks + me];
    if (count > 0) plan.sends.push_back({int(r), total, count}), total += count;
  }
  // The columns that a rank wants go to their owner: the way of the vectors backwards.
  plan.columns = std::move(columns);
  plan.rows_sent = host_array<std::int32_t>(total);
  std::vector<outgoing> out;
  std::vector<incoming> in;
  for (const auto& r : plan.receives)
    out.push_back({r.rank, bytes_of(cview<std::int32_t>(plan.columns.data() + r.first, r.count))});
  for (const auto& s : plan.sends)
    in.push_back({s.rank, bytes_of(view<std::int32_t>(plan.rows_sent.data() + s.first, s.count))});
  c.start(out, in);
  c.finish();
  for (std::int32_t& row : plan.rows_sent) row -= static_cast<std::int32_t>(begins[me]);
  return plan;
}

} // namespace furrow
