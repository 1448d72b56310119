// SPDX-License-Identifier: BSD-3-Clause
#include "ceiling.hpp"
#include "timing.hpp"

#include "backends/gpu/stopwatch.hpp"

#include <algorithm>
#include <map>
#include <mutex>

namespace furrow::gpu {
namespace {

/// Four loads of 16 bytes under way a thread. Writes only if the sum is one that never comes, so that the loads stay.
__global__ void read_kernel(const double2* data, index_t n, double* out) {
  double sum = 0;
  const index_t stride = index_t(gridDim.x) * blockDim.x;
  index_t i = index_t(blockIdx.x) * blockDim.x + threadIdx.x;
  for (; i + 3 * stride < n; i += 4 * stride) {
    const double2 a = data[i], b = data[i + stride], c = data[i + 2 * stride], d = data[i + 3 * stride];
    sum += a.x + a.y + b.x + b.y + c.x + c.y + d.x + d.y;
  }
  for (; i < n; i += stride) sum += data[i].x + data[i].y;
  if (sum == 1.2345678) *out = sum;
}

} // namespace

std::vector<double> time_calls(const std::function<void()>& enqueue, int repeat) {
  const queue& q = current_queue();
  const stopwatch watch;
  std::vector<double> seconds;
  for (int k = 0; k < repeat; ++k) {
    watch.start(q);
    enqueue();
    seconds.push_back(watch.stop(q));
  }
  check_launch();
  return seconds;
}

machine typical_machine() {
  const queue& q = current_queue();
  // The driver takes a millisecond to tell clocks: each device is asked once.
  static std::mutex guard;
  static std::map<int, clocks> known;
  const std::lock_guard lock(guard);
  auto found = known.find(q.ordinal);
  if (found == known.end()) found = known.emplace(q.ordinal, clocks_of(q)).first;
  const clocks& c = found->second;
  machine m;
  m.read = 0.95 * 2 * c.memory_hertz * c.bus_bytes; // two transfers a cycle
  m.cache_read = 24 * c.hertz * q.multiprocessors;
  m.cache = q.cache_bytes;
  m.latency = 4e-6;
  m.processors = q.multiprocessors;
  return m;
}

void flush_cache(view<char> bytes) {
  const queue& q = current_queue();
  const index_t half = bytes.size / 2 / 16 * 16;
  fill_bytes(bytes.data, 1, static_cast<std::size_t>(half), q);
  read_kernel<<<8u * static_cast<unsigned>(q.multiprocessors), 256, 0, q.stream>>>(
      reinterpret_cast<const double2*>(bytes.data + half), half / 16, q.partial);
}

double measure_read_ceiling(double bytes) {
  const queue& q = current_queue();
  gpu_array<double> data(std::max<index_t>(2, static_cast<index_t>(bytes / 16) * 2)), out(1);
  fill_bytes(data, 1);
  double fastest = 1e30;
  for (const unsigned blocks : {8u, 16u, 32u}) { // a multiprocessor; which is best depends on the device
    auto seconds = time_calls(
        [&] {
          read_kernel<<<blocks* static_cast<unsigned>(q.multiprocessors), 256, 0, q.stream>>>(
              reinterpret_cast<const double2*>(data.data()), data.size() / 2, out.data());
        },
        15);
    std::nth_element(seconds.begin(), seconds.begin() + 7, seconds.end());
    fastest = std::min(fastest, seconds[7]);
  }
  return double(data.byte_count()) / fastest;
}

} // namespace furrow::gpu
