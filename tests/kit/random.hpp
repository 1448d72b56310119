// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <cstdint>
#include <vector>

namespace furrow::kit {

/// SplitMix64: the same numbers on every machine and with every standard library.
class splitmix {
public:
  explicit splitmix(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [0, limit).
  index_t below(index_t limit) { return static_cast<index_t>(next() % static_cast<std::uint64_t>(limit)); }
  /// In [0, 1).
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// In [-1, 1), never 0: a zero would hide an element that a kernel forgot.
  double value() {
    const double v = 2 * unit() - 1;
    return v == 0 ? 0.5 : v;
  }

private:
  std::uint64_t state_;
};

/// n values in [-1, 1), none of them 0.
template <class V> host_array<V> random_vector(index_t n, std::uint64_t seed);
/// The same numbers in a std::vector.
inline std::vector<double> random_numbers(index_t n, std::uint64_t seed) {
  const host_array<double> v = random_vector<double>(n, seed);
  return {v.begin(), v.end()};
}

} // namespace furrow::kit
