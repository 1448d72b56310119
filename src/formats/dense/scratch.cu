// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_pieces.hpp"

#include <map>
#include <mutex>

namespace furrow::dense {
namespace {

struct area {
  gpu_array<char> partial;
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
    gpu::check(cudaMemsetAsync(mine.arrived.data(), 0, mine.arrived.byte_count(), q.stream));
  }
  mine.partial.resize(static_cast<index_t>(bytes));
  return {mine.partial.data(), mine.arrived.data()};
}

} // namespace furrow::dense
