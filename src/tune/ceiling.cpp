// SPDX-License-Identifier: BSD-3-Clause
#include "ceiling.hpp"

#include "backends/cpu/caches.hpp"
#include "backends/cpu/fetch_ahead.hpp"
#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"

#include <furrow/array.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

namespace furrow {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// The sum of the elements, read as four streams side by side: of one alone some processors read ahead too little.
double sum_of(const double* data, index_t n) {
  constexpr int streams = 4, lanes = 8;
  const index_t part = n / streams;
  const bool ahead = cpu::fetching_ahead_helps();
  double sum[streams][lanes] = {}, total = 0;
  cpu::widest([&]() FURROW_INLINE {
    for (index_t i = 0; i + lanes <= part; i += lanes)
#pragma GCC unroll 4
      for (int s = 0; s < streams; ++s) {
        const double* const from = data + s * part + i;
        if (ahead) cpu::fetch_ahead(from);
#pragma omp simd
        for (int l = 0; l < lanes; ++l) sum[s][l] += from[l];
      }
  });
  for (const auto& stream : sum)
    for (const double share : stream) total += share;
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

} // namespace

double measure_read_ceiling(device where) {
#if FURROW_HAS_GPU
  if (where.is_gpu()) return gpu::measure_read_ceiling();
#else
  check(!where.is_gpu(), fault::device, "this build has no GPU part");
#endif
  return read_ceiling_of_host();
}

} // namespace furrow
