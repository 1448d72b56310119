// SPDX-License-Identifier: BSD-3-Clause
#include "shadow_vector.hpp"

namespace furrow {

template <class V> host_array<V> shadow_vector(index_t n, index_t k, index_t first) {
  host_array<V> p(n);
  for (index_t i = 0; i < n; ++i) p[i] = static_cast<V>(shadow_element(first + i, k));
  return p;
}
template host_array<double> shadow_vector<double>(index_t, index_t, index_t);
template host_array<float> shadow_vector<float>(index_t, index_t, index_t);

} // namespace furrow
