// SPDX-License-Identifier: BSD-3-Clause
#include "together.hpp"

#include "solve/fingerprint.hpp"

namespace furrow {

template <class V> system_fingerprint fingerprint(communicator& c, const coo<V>& rows, cview<V> b) {
  index_t first = 0, rank = 0;
  for (const index_t count : gather_each(c, rows.shape.rows))
    if (rank++ < c.rank()) first += count;
  system_fingerprint all{0, rows.shape.cols, 0, 0, 0};
  system_fingerprint mine;
  together(c, [&] { mine = fingerprint_of_rows(first, rows, b); });
  for (const system_fingerprint& one : gather_each(c, mine))
    all.rows += one.rows, all.entries += one.entries, all.matrix += one.matrix, all.rhs += one.rhs;
  return all;
}

template system_fingerprint fingerprint(communicator&, const coo<double>&, cview<double>);
template system_fingerprint fingerprint(communicator&, const coo<float>&, cview<float>);

} // namespace furrow
