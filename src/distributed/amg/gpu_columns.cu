// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_columns.hpp"

#include "backends/gpu/primitives.hpp"

namespace furrow::amg {
namespace gpu_columns {

constexpr int bits = 31;
constexpr std::int32_t none = 0x7fffffff; ///< comes last, and is no column: there are fewer than 2^31

struct leave_known_out {
  const std::int32_t* from;
  named_columns known;
  std::int32_t* to;
  FURROW_HD void operator()(index_t k) const { to[k] = from[k] < 0 || known.has(from[k]) ? none : from[k]; }
};
struct mark_first {
  const std::int32_t* sorted;
  std::uint8_t* mark;
  FURROW_HD void operator()(index_t k) const { mark[k] = sorted[k] != none && (k == 0 || sorted[k] != sorted[k - 1]); }
};
struct take_marked {
  const std::int32_t *sorted, *place;
  std::int32_t* to;
  FURROW_HD void operator()(index_t k) const { to[k] = sorted[place[k]]; }
};

} // namespace gpu_columns

gpu_array<std::int32_t> others_among(cview<std::int32_t> globals, const named_columns& known) {
  using namespace gpu_columns;
  const index_t n = globals.size;
  if (n == 0) return {};
  gpu_array<std::int32_t> sorted(n), place(n);
  gpu::for_each(n, leave_known_out{globals.data, known, sorted.data()});
  gpu::fill_bytes(place, 0); // they come along, and nobody looks at them
  gpu::sort_pairs(sorted, place, bits);
  gpu_array<std::uint8_t> mark(n);
  gpu::for_each(n, mark_first{sorted.data(), mark.data()});
  gpu_array<std::int32_t> to(gpu::marked_places(mark, place));
  gpu::for_each(to.size(), take_marked{sorted.data(), place.data(), to.data()});
  return to;
}

} // namespace furrow::amg
