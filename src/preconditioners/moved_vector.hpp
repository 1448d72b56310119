// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/space.hpp>

#include <cstdint>

namespace furrow {

/// y[i] = scale[i] x[from[i]]; without memory `from` is i, and `scale` is 1. y is not x where elements move.
template <class V> struct move_step {
  static constexpr int reads = 2, writes = 1;
  cview<V> x;
  const std::int32_t* from;
  const double* scale;
  view<V> y;
  FURROW_HD void load() {}
  FURROW_HD V at(index_t i) const {
    const V value = x[from ? index_t(from[i]) : i];
    return scale ? V(scale[i] * double(value)) : value;
  }
  FURROW_HD void operator()(index_t i, V value, sums<0>) const { y[i] = value; }
};

/// The same on the current GPU.
#if FURROW_HAS_GPU
template <class V> void move_on_gpu(const move_step<V>& step);
#else
template <class V> void move_on_gpu(const move_step<V>&) { check(false, fault::device, "this build has no GPU part"); }
#endif

} // namespace furrow
