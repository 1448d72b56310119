// SPDX-License-Identifier: BSD-3-Clause
#include "random.hpp"

namespace furrow::kit {

template <class V> host_array<V> random_vector(index_t n, std::uint64_t seed) {
  splitmix random(seed);
  host_array<V> x(n);
  for (V& v : x) v = static_cast<V>(random.value());
  return x;
}

template host_array<double> random_vector(index_t, std::uint64_t);
template host_array<float> random_vector(index_t, std::uint64_t);

} // namespace furrow::kit
