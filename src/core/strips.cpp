// SPDX-License-Identifier: BSD-3-Clause
#include "strips.hpp"
#include "entries_before.hpp"

#include "backends/cpu/parallel.hpp"

#include <vector>

namespace furrow {

template <class Triplets> strip_fill measure_strips(const Triplets& a) {
  struct sample {
    index_t entries = 0, strips = 0, beside = 0;
  };
  const index_t slices = (a.shape.rows + strip_height - 1) / strip_height;
  const index_t samples = std::min(slices, strips_counted / strip_height);
  std::vector<sample> found(static_cast<std::size_t>(samples));
  cpu::for_each_range(samples, 16, [&](index_t first, index_t last) {
    for (index_t n = first; n < last; ++n) {
      const index_t s = cpu::part_begin(slices, samples, n);
      const index_t k = entries_before(as_cview(a.row), s * strip_height);
      const strip_plan plan = plan_strips(a, s, k);
      found[static_cast<std::size_t>(n)] = {plan.next - k, plan.strips, plan.width * strip_height};
    }
  });
  sample total;
  for (const sample& s : found) {
    total.entries += s.entries;
    total.strips += s.strips;
    total.beside += s.beside;
  }
  if (total.entries == 0) return {};
  return {double(total.strips) / double(total.entries), double(total.beside) / double(total.entries)};
}

template strip_fill measure_strips(const coo<double>&);
template strip_fill measure_strips(const borrowed_coo<double>&);
template strip_fill measure_strips(const coo<float>&);
template strip_fill measure_strips(const borrowed_coo<float>&);

} // namespace furrow
