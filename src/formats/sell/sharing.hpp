// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

namespace furrow {

/// Threads of a block of the kernels over slices.
inline constexpr int slice_threads = 256;
/// Most threads that share a row.
inline constexpr int most_sharing = 8;

/// Threads that share a row of a sliced matrix: one where the rows fill a device that runs `room` threads at a time
/// twice over; otherwise as many as fill it, as long as each has four entries or more. Where one slice is much wider
/// than the others its rows are shared by as many as there may be: the device would wait for them.
constexpr int threads_a_row(index_t rows, double mean_width, index_t widest, index_t room) {
  if (widest > 1000 && double(widest) > 16 * mean_width) return most_sharing;
  int threads = 1;
  while (threads < most_sharing && rows * threads < 2 * room && mean_width >= 8 * threads) threads *= 2;
  return threads;
}

} // namespace furrow
