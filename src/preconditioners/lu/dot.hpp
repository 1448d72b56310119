// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/isa.hpp"

#include <furrow/view.hpp>

namespace furrow::lu {

/// Sums of `count` products of a number and a T in parts that do not wait for each other: columns of factors are mostly
/// shorter than two vector registers, and what is left of them then is half the time of a solve.
template <class T, class Factor> inline FURROW_INLINE T sum_of_products(const double* a, index_t count, Factor b) {
  T rest[4] = {};
  index_t i = 0;
  if (count >= 8) {
    T part[8] = {};
    for (; i + 8 <= count; i += 8)
      for (int u = 0; u < 8; ++u) part[u] += a[i + u] * b(i + u);
    for (int u = 0; u < 4; ++u) rest[u] = part[u] + part[u + 4];
  }
  for (; i + 4 <= count; i += 4)
    for (int u = 0; u < 4; ++u) rest[u] += a[i + u] * b(i + u);
  if (i < count) rest[0] += a[i] * b(i);
  if (i + 1 < count) rest[1] += a[i + 1] * b(i + 1);
  if (i + 2 < count) rest[2] += a[i + 2] * b(i + 2);
  return (rest[0] + rest[1]) + (rest[2] + rest[3]);
}

} // namespace furrow::lu
