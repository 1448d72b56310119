// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string_view>

namespace furrow::csr_format {

/// How a kernel of rows is launched: lanes a row, and whether the grid covers all rows or only fills the device.
struct row_launch {
  int width = 1;
  bool fill = false;
};

/// Of the classic kernels, for rows of that mean length on hardware whose warps have so many lanes.
inline row_launch classic_launch(std::string_view kernel, double mean, int warp) {
  if (kernel == "warp_per_row") return {warp, false};
  if (kernel == "half_warp") return {warp / 2, true};
  if (kernel == "naive") return {1, true};
  row_launch launch;
  if (kernel == "vector") { // the largest power of two up to the mean row length, at least 2, at most a warp
    launch.width = 2;
    while (launch.width * 2 <= mean && launch.width < warp) launch.width *= 2;
  }
  return launch;
}

} // namespace furrow::csr_format
