// SPDX-License-Identifier: BSD-3-Clause
#include "timing.hpp"

#include "core/clock.hpp"

#include <furrow/error.hpp>

#include <algorithm>

namespace furrow {
namespace {

std::vector<double> time_calls(const std::function<void()>& call, device where, int repeat) {
#if FURROW_HAS_GPU
  if (where.is_gpu()) return gpu::time_calls(call, repeat);
#else
  check(!where.is_gpu(), fault::device, "this build has no GPU part");
#endif
  std::vector<double> seconds;
  for (int k = 0; k < repeat; ++k) {
    const double began = now();
    call();
    seconds.push_back(now() - began);
  }
  return seconds;
}

} // namespace

template <class V>
timing time_apply(const any_operator<V>& a, cview<V> x, view<V> y, device where, int repeat, V alpha) {
  const auto call = [&] { a.apply(alpha, x, V(0), y); };
  const double once = std::ranges::min(time_calls(call, where, 2));
  if (repeat <= 0) repeat = static_cast<int>(std::clamp(0.5 / std::max(once, 1e-9), 7.0, 1000.0));
  auto seconds = time_calls(call, where, repeat);
  std::ranges::sort(seconds);
  return {seconds[seconds.size() / 2], seconds.front(), repeat};
}

template timing time_apply(const any_operator<double>&, cview<double>, view<double>, device, int, double);
template timing time_apply(const any_operator<float>&, cview<float>, view<float>, device, int, float);

} // namespace furrow
