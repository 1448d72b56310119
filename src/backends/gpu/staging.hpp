// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

#include <cstddef>
#include <functional>
#include <span>

/// Large copies between pageable host memory and a GPU. The driver's own way takes one thread and some 7 GB/s; here
/// all threads move parts into pinned memory while what they moved before is on its way. Small ones to a GPU, of up to
/// 16 KiB, go through pinned memory as well, and nobody waits for them.
namespace furrow::gpu {

/// From this many bytes on it pays: to a GPU, and from there.
inline constexpr std::size_t sent_staged_from = std::size_t(256) << 10, staged_from = std::size_t(4) << 20;

/// What goes to a GPU: bytes that lie somewhere, or bytes that are made on the way.
struct transfer {
  /// room <- bytes [at, at + size), by several threads at once; `at` is a multiple of `unit`.
  using writer = std::function<void(char* room, std::size_t at, std::size_t size)>;

  void* to;
  const void* from; ///< null where they are made
  std::size_t bytes;
  writer write = {};
  /// What a thread writes at a time: where more than that is read for it, less. A multiple of 64.
  std::size_t unit = std::size_t(16) << 10;
};
/// All of them, side by side. Enqueues, and waits until the sources may go away.
void send_together(std::span<const transfer> all, queue& q);
/// The same through the stage. False: not done, because pinned memory cannot be had. What is on its way lies in the
/// stage.
bool send_staged(std::span<const transfer> all, queue& q);
/// Waits until the bytes are there.
bool fetch_staged(void* to, const void* from, std::size_t bytes, queue& q);

} // namespace furrow::gpu
