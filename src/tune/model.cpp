// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <algorithm>

namespace furrow {

double expected_seconds(const kernel_costs* costs, const stats& s, precision p, const layout& l, const machine& m) {
  constexpr kernel_costs unknown{.start = 1, .memory = 1};
  const kernel_costs& c = !costs ? unknown : costs->on_amd && !m.by_intel ? *costs->on_amd : *costs;
  const double bytes = bytes_per_apply(l, s, p), nnz = double(s.nnz), processors = double(m.processors);
  const double rows = double(s.shape.rows), unlearned = std::max(rows - c.learned, 0.0);
  const double sector = bytes_of(p) * locality::elements / m.cache_read * nnz; // seconds, one an entry
  return std::max(c.start, 0.05) * m.latency + // nothing is free, not even an empty matrix
         c.memory * bytes / (bytes < m.cache ? m.cache_read : m.read) +
         (bytes > m.last_cache ? c.beyond * bytes / m.read : 0) +
         sector * (c.by_row * s.near.by_row + c.by_slice * s.near.by_slice + c.by_window * s.near.by_window) +
         1e-9 * ((c.rows + c.uneven * s.row_deviation) * rows + c.surprising * s.mispredicted_lengths * unlearned) /
             processors +
         1e-9 * c.places * l.places / processors + 1e-9 * c.longest * longest_run(l, s);
}

} // namespace furrow
