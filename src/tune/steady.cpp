// SPDX-License-Identifier: BSD-3-Clause
#include "steady.hpp"
#include "ceiling.hpp"

#include "backends/cpu/caches.hpp"
#include "backends/cpu/parallel.hpp"

#include "core/clock.hpp"

#include <furrow/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <sys/resource.h>
#include <thread>

namespace furrow {
namespace {

/// Seconds of a sample of `calls` calls.
double sample(const std::function<void()>& call, device where, int calls) {
  const auto all = [&] {
    for (int k = 0; k < calls; ++k) call();
  };
#if FURROW_HAS_GPU
  if (where.is_gpu()) return gpu::time_calls(all, 1)[0];
#endif
  check(!where.is_gpu(), fault::device, "this build has no GPU part");
  const double began = now();
  all();
  return now() - began;
}

index_t cache_bytes(device where) {
  if (!where.is_gpu()) return static_cast<index_t>(last_level_cache());
  for (const auto& g : inspect_gpus().gpus)
    if (g.ordinal == where.ordinal) return g.l2_bytes;
  return index_t(64) << 20;
}

} // namespace

cache_flush::cache_flush(device where) {
  const index_t bytes = 2 * cache_bytes(where);
  if (where.is_gpu()) gpu_ = gpu_array<char>(2 * bytes);
  else host_ = host_array<char>(std::min<index_t>(bytes, available_host_memory() / 4));
}

void cache_flush::operator()() {
#if FURROW_HAS_GPU
  if (!gpu_.empty()) gpu::flush_cache(as_view(gpu_));
#endif
  cpu::for_each_range(host_.size(), 1 << 16, [&](index_t first, index_t last) {
    std::memset(host_.data() + first, 1, static_cast<std::size_t>(last - first));
  });
}

void wait_for(device where) {
  sample([] {}, where, 1);
}

namespace {

/// Seconds that all threads of this process have had a processor.
double seconds_of_processors() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) { return double(t.tv_sec) + 1e-6 * double(t.tv_usec); };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

} // namespace

void let_threads_rest() {
  constexpr double look = 0.005;
  for (int k = 0; k < 400; ++k) {
    const double before = seconds_of_processors();
    std::this_thread::sleep_for(std::chrono::duration<double>(look));
    if (seconds_of_processors() - before < look / 10) return;
  }
}

namespace {

/// Seconds that a flush takes by the host's clock, the device's work included; 0 without one.
double cost_of(cache_flush* flush, device where) {
  if (!flush) return 0;
  const double began = now();
  (*flush)();
  wait_for(where);
  return now() - began;
}

} // namespace

timing time_steadily(const std::function<void()>& call, device where, const endurance& e) {
  sample(call, where, 1);
  double once = std::max(sample(call, where, 1), 1e-9);
  if (!where.is_gpu() && e.repeat == 0) { // until threads that slept are awake, on processors of their own
    const double began = now(), warm = std::min(e.seconds, 0.02);
    while (now() - began + once < warm) once = std::max(sample(call, where, 1), 1e-9);
  }
  const bool batched = where.is_gpu() && !e.flush;
  const int calls = batched ? static_cast<int>(std::clamp(1e-3 / once, 1.0, 50.0)) : 1;
  const double each = once * calls + cost_of(e.flush, where);
  const int repeat = e.repeat > 0 ? e.repeat : static_cast<int>(std::clamp(e.seconds / each, 3.0, 1000.0));
  std::vector<double> seconds;
  for (int k = 0; k < repeat; ++k) {
    if (e.flush) (*e.flush)();
    seconds.push_back(sample(call, where, calls) / calls);
  }
  std::ranges::sort(seconds);
  return {seconds[seconds.size() / 2], seconds.front(), repeat * calls};
}

} // namespace furrow
