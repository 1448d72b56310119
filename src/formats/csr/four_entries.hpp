// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/runtime_cuda.hpp"

#include <cstdint>

namespace furrow::gpu {

/// Four neighbouring entries, by loads of 16 bytes that pass the first cache.
template <class V> struct four_entries {
  V val[4];
  std::int32_t col[4];
};
inline __device__ void load_four(four_entries<double>& to, const double* val, const std::int32_t* col) {
  const auto a = __ldcs(reinterpret_cast<const double2*>(val)), b = __ldcs(reinterpret_cast<const double2*>(val) + 1);
  const auto c = __ldcs(reinterpret_cast<const int4*>(col));
  to = {{a.x, a.y, b.x, b.y}, {c.x, c.y, c.z, c.w}};
}
inline __device__ void load_four(four_entries<float>& to, const float* val, const std::int32_t* col) {
  const auto a = __ldcs(reinterpret_cast<const float4*>(val));
  const auto c = __ldcs(reinterpret_cast<const int4*>(col));
  to = {{a.x, a.y, a.z, a.w}, {c.x, c.y, c.z, c.w}};
}

} // namespace furrow::gpu
