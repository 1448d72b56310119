// SPDX-License-Identifier: BSD-3-Clause
#include "infinity_probe.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow {
namespace {

/// Some dozens of columns of all kinds, and so far apart that most rows have an entry in none.
index_t distance(index_t cols) { return std::clamp<index_t>(cols / 64, 17, 997); }

} // namespace

template <class V> infinity_probe<V> probe_of(const coo<V>& a) {
  infinity_probe<V> probe{host_array<V>(a.shape.cols, V(0)), std::vector<char>(static_cast<std::size_t>(a.shape.rows))};
  for (index_t j = a.shape.cols - 1; j >= 0; j -= distance(a.shape.cols))
    probe.x[j] = std::numeric_limits<V>::infinity();
  for (index_t k = 0; k < a.nnz(); ++k)
    if (probe.x[a.col[k]] != V(0)) probe.reached[static_cast<std::size_t>(a.row[k])] = 1;
  return probe;
}

template <class V> infinity_reach reach_of(const infinity_probe<V>& probe, cview<V> y) {
  infinity_reach r;
  for (index_t i = 0; i < y.size; ++i) {
    const bool finite = std::isfinite(y[i]);
    if (probe.reached[static_cast<std::size_t>(i)] == 0) r.spread += !finite;
    else if (finite && r.hidden < 0) r.hidden = i;
  }
  return r;
}

template infinity_probe<double> probe_of(const coo<double>&);
template infinity_probe<float> probe_of(const coo<float>&);
template infinity_reach reach_of(const infinity_probe<double>&, cview<double>);
template infinity_reach reach_of(const infinity_probe<float>&, cview<float>);

} // namespace furrow
