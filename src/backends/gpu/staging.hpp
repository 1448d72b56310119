// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

#include <cstddef>
#include <span>

/// Large copies between pageable host memory and a GPU. The driver's own way takes one thread and some 10 GB/s; here
/// all threads move a piece into pinned memory while the piece before it is on its way. Small ones to a GPU, of up to
/// 16 KiB, go through pinned memory as well, and nobody waits for them.
namespace furrow::gpu {

/// From this many bytes on it pays: to a GPU, and from there.
inline constexpr std::size_t sent_staged_from = std::size_t(256) << 10, staged_from = std::size_t(4) << 20;

/// A copy to a GPU.
struct transfer {
  void* to;
  const void* from;
  std::size_t bytes;
};
/// One after the other. Enqueues, and waits until the sources may go away.
void send_together(std::span<const transfer> all, queue& q);
/// Waits until the bytes are there.
bool fetch_staged(void* to, const void* from, std::size_t bytes, queue& q);

} // namespace furrow::gpu
