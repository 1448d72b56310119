// SPDX-License-Identifier: BSD-3-Clause
#include "pieces.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

namespace furrow::dense {
namespace {

struct area {
  /// Partial sums. The last one is used; a graph that was recorded before may use another.
  std::vector<gpu_array<char>> partial;
  gpu_array<unsigned> arrived;
};

} // namespace

/// One area a GPU: everything is enqueued on one stream, in order, so one call at a time uses it. What grows is freed
/// in that order too. Areas are kept for good.
gpu_scratch<void> scratch_for(std::size_t bytes) {
  static std::mutex one_at_a_time;
  static auto& areas = *new std::map<int, area>;
  const std::lock_guard lock(one_at_a_time);
  const gpu::queue& q = gpu::current_queue();
  area& mine = areas[q.ordinal];
  if (mine.arrived.empty()) {
    mine.arrived = gpu_array<unsigned>(most_counters);
    gpu::fill_bytes(mine.arrived, 0);
  }
  auto& kept = mine.partial;
  const index_t there = kept.empty() ? 0 : kept.back().size();
  if (const auto wanted = static_cast<index_t>(bytes); wanted > there || there == 0)
    kept.emplace_back(std::max({wanted, 2 * there, index_t(4) << 20}));
  return {kept.back().data(), mine.arrived.data()};
}

} // namespace furrow::dense
