// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/operator.hpp>

#include <cstdint>

/// A right-hand side at random, the same on every run and every device.
namespace furrow {

/// From [0, 1), by the finalizer of splitmix64 (G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom number
/// generators, 2014).
FURROW_HD inline double drawn(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return double((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/// One of them: from [-0.5, 1.5], so that b holds most of an eigenvector of one sign, as the smoothest ones of grids
/// and graphs are, and about 1/sqrt(n) of any other one.
FURROW_HD inline double drawn_of_b(std::uint64_t i) { return 2 * drawn(i) - 0.5; }

/// b_i over the root of m_i where m has elements, and y = 0, in host memory. first: the element of the whole that these
/// begin with. One pass, by all threads.
template <class V> void begin_at_random(view<V> b, view<V> y, cview<V> m, index_t first = 0);
/// The same in the memory of the current GPU, m too; enqueued.
template <class V> void begin_at_random_on_gpu(view<V> b, view<V> y, cview<V> m);

} // namespace furrow
