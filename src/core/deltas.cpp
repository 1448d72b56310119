// SPDX-License-Identifier: BSD-3-Clause
#include "deltas.hpp"

#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace furrow {
namespace {

struct sample {
  index_t bytes = 0, places = 0;
};

template <class V> sample look_at_slice(const coo<V>& a, index_t slice) {
  const auto *const first = a.row.begin(), *const last = a.row.end();
  const auto before = [&](index_t row) {
    return std::lower_bound(first, last, row, [](std::int32_t r, index_t bound) { return r < bound; }) - first;
  };
  struct range {
    std::int32_t least = std::numeric_limits<std::int32_t>::max(), most = 0;
  };
  std::vector<range> slot;
  const index_t end = before((slice + 1) * delta_rows);
  std::size_t k = 0;
  for (index_t at = before(slice * delta_rows), row = -1; at < end; ++at, ++k) {
    if (a.row[at] != row) k = 0;
    row = a.row[at];
    if (k == slot.size()) slot.emplace_back();
    slot[k].least = std::min(slot[k].least, a.col[at]);
    slot[k].most = std::max(slot[k].most, a.col[at]);
  }
  index_t largest = 0;
  for (const range& r : slot) largest = std::max(largest, index_t(r.most) - r.least);
  const auto width = static_cast<index_t>(slot.size());
  return {4 * width + 4 * delta_rows * words_for(width, delta_bytes_for(largest)), delta_rows * width};
}

} // namespace

template <class V> double measure_column_bytes(const coo<V>& a) {
  constexpr index_t most = 2048, together = 64;
  const index_t slices = (a.shape.rows + delta_rows - 1) / delta_rows, samples = std::min(slices, most);
  const index_t tasks = (samples + together - 1) / together;
  std::vector<sample> found(static_cast<std::size_t>(tasks));
  cpu::for_each_task(tasks, [&](index_t t) {
    sample& sum = found[static_cast<std::size_t>(t)];
    for (index_t k = t * together; k < std::min(samples, (t + 1) * together); ++k) {
      const sample one = look_at_slice(a, cpu::part_begin(slices, samples, k));
      sum.bytes += one.bytes;
      sum.places += one.places;
    }
  });
  sample total;
  for (const sample& s : found) {
    total.bytes += s.bytes;
    total.places += s.places;
  }
  return total.places ? double(total.bytes) / double(total.places) : 4;
}

template double measure_column_bytes(const coo<double>&);
template double measure_column_bytes(const coo<float>&);

} // namespace furrow
