// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "rounding.hpp"

#include "backends/gpu/primitives.hpp"

namespace furrow::amg {

template <class W> struct round_values {
  const double* from;
  double scale;
  W* to;
  FURROW_HD void operator()(index_t k) const { to[k] = rounded<W>(from[k], scale); }
};
/// `rounded` of each element, on the current GPU, into an array of as many.
template <class W> void round_into(gpu_array<W>& to, cview<double> from, double scale) {
  gpu::for_each(from.size, round_values<W>{from.data, scale, to.data()});
}
template <class W> gpu_array<W> rounded_values(const gpu_array<double>& from, double scale) {
  gpu_array<W> to(from.size());
  round_into(to, as_cview(from), scale);
  return to;
}

} // namespace furrow::amg
