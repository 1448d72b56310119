// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/formats.hpp>

namespace furrow {

/// Bytes a second that `where` reads at best: the yardstick of every kernel. A sum over an array several times larger
/// than the last-level cache, all threads, the median of several passes. Takes some tenths of a second; never throws
/// for want of memory on the host but measures with less.
double measure_read_ceiling(device where);

#if FURROW_HAS_GPU
namespace gpu {
/// The same on the selected GPU.
double measure_read_ceiling();
/// What the selected GPU says of itself.
machine typical_machine();
} // namespace gpu
#endif

} // namespace furrow
