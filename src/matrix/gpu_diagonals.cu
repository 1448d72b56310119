// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_diagonals.hpp"

#include "backends/gpu/primitives.hpp"

namespace furrow {
namespace gpu_diagonals {

struct mark_offset {
  index_t rows;
  const std::int32_t* col;
  std::uint8_t* seen; ///< of column - row + rows - 1
  FURROW_HD void operator()(index_t i, index_t k) const {
    std::uint8_t& there = seen[col[k] - i + rows - 1];
    if (!there) there = 1;
  }
};
struct to_offset {
  index_t rows;
  std::int32_t* offset;
  FURROW_HD void operator()(index_t d) const {
    offset[d] = static_cast<std::int32_t>(index_t(static_cast<std::uint32_t>(offset[d])) - (rows - 1));
  }
};

/// Numbers of the diagonals with entries, counted from the lowest, and how many there are.
template <class V> gpu_array<std::int32_t> numbers(const csr<V, index_t, cview>& a, index_t& count) {
  const index_t places = a.shape.rows + a.shape.cols - 1;
  gpu_array<std::uint8_t> seen(places);
  gpu::fill_bytes(seen, 0);
  gpu::for_each_entry(a.shape.rows, a.row_ptr.data, a.col.size, mark_offset{a.shape.rows, a.col.data, seen.data()});
  gpu_array<std::uint32_t> found(std::min<index_t>(places, a.col.size));
  count = gpu::marked_places(seen, found);
  gpu_array<std::int32_t> all(count);
  gpu_memory::copy(all.data(), found.data(), all.byte_count());
  return all;
}

} // namespace gpu_diagonals

template <class V> gpu_array<std::int32_t> diagonals_on_gpu(const csr<V, index_t, cview>& a, index_t most) {
  index_t count = 0;
  if (a.col.empty()) return {};
  auto offset = gpu_diagonals::numbers(a, count);
  if (count > most) return {};
  gpu::for_each(count, gpu_diagonals::to_offset{a.shape.rows, offset.data()});
  return offset;
}

#define FURROW_DIAGONALS(V) template gpu_array<std::int32_t> diagonals_on_gpu(const csr<V, index_t, cview>&, index_t);
FURROW_DIAGONALS(double)
FURROW_DIAGONALS(float)
#undef FURROW_DIAGONALS

} // namespace furrow
