// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu/runtime_cuda.hpp"

namespace furrow::gpu {

/// Lanes that run together in a kernel over numbers of V: those of the hardware, and of a kernel that is played those
/// that its numbers say.
template <class V> inline constexpr int warp_of = warp;
template <template <class, int> class Number, class T, int Lanes>
inline constexpr int warp_of<Number<T, Lanes>> = Lanes;

} // namespace furrow::gpu
