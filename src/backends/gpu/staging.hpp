// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

#include <cstddef>

/// Large copies between pageable host memory and a GPU. The driver's own way takes one thread and some 10 GB/s; here
/// all threads move a piece into pinned memory while the piece before it is on its way.
namespace furrow::gpu {

/// From this many bytes on it pays.
inline constexpr std::size_t staged_from = std::size_t(4) << 20;

/// Enqueues and waits until the source may go away; false: not done, because pinned memory cannot be had.
bool send_staged(void* to, const void* from, std::size_t bytes, queue& q);
/// Waits until the bytes are there.
bool fetch_staged(void* to, const void* from, std::size_t bytes, queue& q);

} // namespace furrow::gpu
