// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/device.hpp>

#include <string_view>

namespace furrow::cli {

/// Where so many bytes lie that are read again and again: "L2", the second cache of the GPU or those of the threads,
/// "L3", the last one of the CPU, or "memory". What a speed is a fraction of, and why one is beyond that of memory.
std::string_view lies_in(device where, double bytes);

} // namespace furrow::cli
