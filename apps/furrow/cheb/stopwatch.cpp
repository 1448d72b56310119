// SPDX-License-Identifier: BSD-3-Clause
#include "product_command.hpp"

#include "tune/timing.hpp"

#include <algorithm>
#include <chrono>

namespace furrow::cli::cheb_command {
namespace {

std::vector<double> times(const std::function<void()>& call, device where, int repeat) {
#if FURROW_HAS_GPU
  if (where.is_gpu()) return gpu::time_calls(call, repeat);
#else
  check(!where.is_gpu(), fault::device, "this build has no GPU part");
#endif
  std::vector<double> seconds;
  for (int k = 0; k < repeat; ++k) {
    const auto began = std::chrono::steady_clock::now();
    call();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  }
  return seconds;
}

} // namespace

double median_seconds(const std::function<void()>& call, device where, double budget) {
  const double once = std::ranges::min(times(call, where, 2));
  auto seconds = times(call, where, int(std::clamp(budget / std::max(once, 1e-9), 1.0, 300.0)));
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

} // namespace furrow::cli::cheb_command
