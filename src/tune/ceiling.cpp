// SPDX-License-Identifier: BSD-3-Clause
#include "ceiling.hpp"

#include "backends/cpu/fetch_ahead.hpp"
#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"

#include <furrow/array.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

namespace furrow {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The sum of the elements, in as many running sums as keep the memory busy.
double sum_of(const double* data, index_t n) {
  constexpr int lanes = 64;
  double lane[lanes] = {}, total = 0;
  cpu::widest([&]() FURROW_INLINE {
    for (index_t i = 0; i + lanes <= n; i += lanes) {
      for (int l = 0; l < lanes; l += 8) cpu::fetch_ahead(data + i + l);
#pragma omp simd
      for (int l = 0; l < lanes; ++l) lane[l] += data[i + l];
    }
  });
  for (const double share : lane) total += share;
  return total;
}

double read_ceiling_of_host() {
  double bytes = std::clamp(4 * last_level_cache(), 256e6, 2e9);
  bytes = std::min(bytes, 0.25 * double(available_host_memory()));
  host_array<double> data(static_cast<index_t>(bytes / 8));
  cpu::for_each_range(data.size(), 1 << 15,
                      [&](index_t first, index_t last) { std::fill(data.data() + first, data.data() + last, 1.0); });
  std::vector<double> seconds, sums(static_cast<std::size_t>(cpu::thread_count()));
  for (int pass = 0; pass < 11; ++pass) {
    const double began = now();
    cpu::for_each_task(cpu::thread_count(), [&](index_t k) {
      const index_t first = cpu::part_begin(data.size(), cpu::thread_count(), k);
      sums[k] = sum_of(data.data() + first, cpu::part_begin(data.size(), cpu::thread_count(), k + 1) - first);
    });
    seconds.push_back(now() - began);
  }
  require(sums[0] > 0 || data.size() < 1024, "the sum of ones is not positive"); // and keeps the sums alive
  std::ranges::nth_element(seconds, seconds.begin() + 5);
  return double(data.byte_count()) / seconds[5];
}

/// Bytes of a cache of the first processor.
double cache_size(int level, int sysconf_name, double where_nobody_knows) {
  // What the kernel says goes before sysconf, which guesses from the processor's model in virtual machines.
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(level) + "/size");
  double kibibytes = 0;
  if (file >> kibibytes && kibibytes > 0) return 1024 * kibibytes;
  const long bytes = sysconf(sysconf_name);
  return bytes > 0 ? double(bytes) : where_nobody_knows;
}

} // namespace

double last_level_cache() { return cache_size(3, _SC_LEVEL3_CACHE_SIZE, 32 << 20); }

double second_level_cache() { return cache_size(2, _SC_LEVEL2_CACHE_SIZE, 1 << 20); }

double measure_read_ceiling(device where) {
#if FURROW_HAS_GPU
  if (where.is_gpu()) return gpu::measure_read_ceiling();
#else
  check(!where.is_gpu(), fault::device, "this build has no GPU part");
#endif
  return read_ceiling_of_host();
}

} // namespace furrow
