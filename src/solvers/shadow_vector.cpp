// SPDX-License-Identifier: BSD-3-Clause
#include "shadow_vector.hpp"

#include "generate/randomness.hpp"

namespace furrow {

template <class V> host_array<V> shadow_vector(index_t n, index_t k, index_t first) {
  constexpr std::uint64_t seed = 913;
  const randomness random(seed);
  host_array<V> p(n);
  for (index_t i = 0; i < n; ++i) p[i] = static_cast<V>(2 * unit(random.at(first + i, k)) - 1);
  return p;
}
template host_array<double> shadow_vector<double>(index_t, index_t, index_t);
template host_array<float> shadow_vector<float>(index_t, index_t, index_t);

} // namespace furrow
