// SPDX-License-Identifier: BSD-3-Clause
#include "row_launch.hpp"

#include "core/check.hpp"
#include "core/kernel_numbers.hpp"

namespace furrow::csr_format {

row_launch classic_launch(std::string_view kernel, double mean, int warp) {
  const std::string_view name = kernel_name(kernel);
  const kernel_numbers asked = read_kernel_numbers(kernel);
  row_launch launch{1, name == "half_warp" || name == "naive", asked.block};
  if (name == "warp_per_row") launch.width = warp;
  if (name == "half_warp") launch.width = warp / 2;
  if (name == "vector") { // the largest power of two up to the mean row length, at least 2, at most a warp
    launch.width = asked.lanes ? asked.lanes : 2;
    while (!asked.lanes && launch.width * 2 <= mean && launch.width < warp) launch.width *= 2;
  }
  check(launch.width <= warp, fault::usage, "kernel '{}': a row has at most the {} lanes of a warp: give fewer", kernel,
        warp);
  check(!launch.block || launch.width <= launch.block, fault::usage,
        "kernel '{}': the {} lanes of a row do not fit into a block of {}: give a larger block", kernel, launch.width,
        launch.block);
  return launch;
}

} // namespace furrow::csr_format
