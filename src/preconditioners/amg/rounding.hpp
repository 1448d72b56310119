// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#if !defined(__CUDACC__)
#include "backends/cpu/parallel.hpp"
#endif

#include <furrow/array.hpp>

namespace furrow::amg {

/// A value times a power of two, without denormal numbers.
template <class W> FURROW_HD W rounded(double v, double scale) {
  constexpr double least = sizeof(W) == 8 ? 0x1p-1022 : 0x1p-126; // of the normal numbers
  const double scaled = v * scale;
  return scaled > -least && scaled < least ? W(0) : static_cast<W>(scaled);
}
#if !defined(__CUDACC__)
/// The same of each element, into `to`, which keeps its memory where that is large enough.
template <class W> void round_into(host_array<W>& to, cview<double> v, double scale) {
  to.resize(v.size);
  cpu::for_each_range(v.size, 1 << 15, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) to[i] = rounded<W>(v[i], scale);
  });
}
template <class W> host_array<W> rounded(cview<double> v, double scale) {
  host_array<W> w;
  round_into(w, v, scale);
  return w;
}
#endif

} // namespace furrow::amg
