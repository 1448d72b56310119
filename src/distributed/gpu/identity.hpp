// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>

namespace furrow {

/// A GPU as its machine knows it, by its place on the bus: the same for all processes there, whatever number each of
/// them has for it.
using gpu_identity = std::array<char, 32>;

gpu_identity identity_of_gpu(int ordinal);

} // namespace furrow
