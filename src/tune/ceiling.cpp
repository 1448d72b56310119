// SPDX-License-Identifier: BSD-3-Clause
#include "ceiling.hpp"

#include "backends/cpu/caches.hpp"
#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"
#include "backends/cpu/prefetch.hpp"

#include "core/clock.hpp"

#include <furrow/array.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace furrow {
namespace {

constexpr index_t streams = 4, width = 16; // elements of a stream at once

/// The sum of the elements, read as four streams side by side: of one alone some processors read ahead too little. Sums
/// stay in registers: out of the first caches, nothing but the loads may cost.
double sum_of(const double* data, index_t n) {
  using lanes [[gnu::vector_size(64), gnu::aligned(8), gnu::may_alias]] = double;
  const index_t part = n / streams;
  const bool ahead = cpu::fetching_ahead_helps();
  double total = 0;
  cpu::widest([&]() FURROW_INLINE {
    lanes sum[streams][2] = {};
    const double* from = data;
    for (index_t left = part; left >= width; left -= width, from += width) {
#pragma GCC unroll 4
      for (int s = 0; s < streams; ++s) {
        const double* const at = from + s * part;
        if (ahead) cpu::prefetch(at), cpu::prefetch(at + width / 2);
        sum[s][0] += *reinterpret_cast<const lanes*>(at);
        sum[s][1] += *reinterpret_cast<const lanes*>(at + width / 2);
      }
    }
    for (const auto& stream : sum)
      for (const lanes& half : stream)
        for (int l = 0; l < width / 2; ++l) total += half[l];
  });
  return total;
}

/// Parts of one array, a thread each. Fresh pages cost much more than what is measured here: a part ends where its
/// pages have taken a while.
struct parts {
  static constexpr double patience = 0.05;  // seconds; twice that where parts have to wait for each other
  static constexpr index_t least = 1 << 19; // elements of a part that are there in any case
  static constexpr index_t step = 1 << 17;  // elements that are filled at once
  static constexpr index_t unit = streams * width;

  index_t count, room, length = 0; ///< length: of what is there of each part
  host_array<double> data;
  std::vector<double> sums;

  parts(double bytes, index_t count)
      : count(count), room(std::max(unit, static_cast<index_t>(bytes / 8 / double(count)) / unit * unit)),
        data(room * count), sums(static_cast<std::size_t>(count)) {
    std::vector<index_t> there(static_cast<std::size_t>(count));
    const double first_began = now();
    cpu::for_each_task(count, [&](index_t k) {
      const double end = std::min(now() + patience, first_began + 2 * patience);
      index_t& n = there[k];
      while (n < room && (n < least || now() < end)) {
        const index_t next = std::min(room, n + step);
        std::fill(data.data() + k * room + n, data.data() + k * room + next, 1.0);
        n = next;
      }
    });
    length = std::ranges::min(there);
  }
  double bytes() const { return 8 * double(length) * double(count); }

  /// Seconds of one of `calls` passes.
  double seconds(int calls) {
    const double began = now();
    for (int call = 0; call < calls; ++call)
      cpu::for_each_task(count, [&](index_t k) { sums[k] = sum_of(data.data() + k * room, length); });
    return (now() - began) / calls;
  }
};

/// Bytes a second: of passes for 20 ms, so that threads that slept are awake, but no less than two nor for much more
/// than 80 ms.
double rate_of(parts p) {
  constexpr double enough = 0.02, most = 0.08, sample = 20e-6;
  const double began = now(), once = std::max(p.seconds(1), 1e-9);
  const int calls = static_cast<int>(std::clamp(sample / once, 1.0, 1000.0));
  std::vector<double> seconds;
  while (seconds.size() < 2 || (now() - began < most && (now() - began < enough || seconds.size() < 11)))
    seconds.push_back(p.seconds(calls));
  require(p.sums[0] > 0, "the sum of ones is not positive"); // and keeps the sums alive
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::ranges::nth_element(seconds, middle);
  return p.bytes() / *middle;
}

/// Short arrays are read faster by one thread than by all, which have to be woken up.
double read_ceiling_of_host(double bytes) {
  constexpr double shared_by_all = 4e6;
  const int all = cpu::thread_count();
  const double together = rate_of({bytes, all});
  return all == 1 || bytes > shared_by_all ? together : std::max(together, rate_of({bytes, 1}));
}

} // namespace

double largest_ceiling_array(device where) {
  const double most = where.is_gpu() ? 4.3e9 : std::clamp(4 * last_level_cache(), 256e6, 1e9);
  const auto room = double(where.is_gpu() ? available_gpu_memory(where.ordinal) : available_host_memory());
  return std::min(most, room / 4);
}

double measure_read_ceiling(device where, double bytes) {
  bytes = std::min(bytes, largest_ceiling_array(where));
#if FURROW_HAS_GPU
  if (where.is_gpu()) return gpu::measure_read_ceiling(bytes);
#else
  check(!where.is_gpu(), fault::device, "this build has no GPU part");
#endif
  return read_ceiling_of_host(bytes);
}

double read_ceilings::of(double bytes) {
  if (!wanted_) return std::numeric_limits<double>::quiet_NaN();
  constexpr double steps = 8; // of an octave
  const double most = largest_ceiling_array(where_);
  const int step = static_cast<int>(steps * std::log2(std::clamp(bytes, 512.0, most)));
  const auto [found, fresh] = measured_.try_emplace(bytes < most ? step : std::numeric_limits<int>::max());
  if (fresh) found->second = measure_read_ceiling(where_, bytes < most ? std::exp2(step / steps) : most);
  return found->second;
}

} // namespace furrow
