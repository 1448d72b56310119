// SPDX-License-Identifier: BSD-3-Clause
#include "measure.hpp"

#include "backends/cpu/isa.hpp"
#include "backends/cpu/parallel.hpp"

#include <furrow/array.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <sys/resource.h>
#include <thread>

namespace furrow::bench {
namespace {

/// Threads that run or want to run on this machine, this one included; 1 where the system does not say.
int running() {
  std::ifstream file("/proc/loadavg");
  double skipped = 0;
  int count = 1;
  file >> skipped >> skipped >> skipped >> count;
  return file ? count : 1;
}

/// GNU OpenMP's idle threads spin for some milliseconds; they must not run beside another's turn. Nor, for a second of
/// patience, should other programs.
void let_others_sleep() {
  std::this_thread::sleep_for(std::chrono::milliseconds(12));
  for (int k = 0; k < 500 && running() > 1; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

double turn_of(const std::function<void()>& call, double seconds) {
  const double began = now();
  while (now() - began < seconds * 0.3) call();
  double best = std::numeric_limits<double>::infinity();
  int calls = 0;
  for (const double warm = now(); now() - warm < seconds || calls < 5; ++calls) {
    const double t = now();
    call();
    best = std::min(best, now() - t);
  }
  return best;
}

/// Times that the system took a processor from a thread of this process.
long interruptions() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return use.ru_nivcsw;
}

} // namespace

double median(std::vector<double> v) {
  std::ranges::sort(v);
  return v[v.size() / 2];
}

std::vector<double> compare_timed(const std::vector<std::function<double()>>& calls, patience p) {
  std::vector<double> best(calls.size(), std::numeric_limits<double>::infinity());
  std::vector<int> clean(calls.size(), 0);
  for (int turn = 0; turn < p.most && *std::min_element(clean.begin(), clean.end()) < p.clean; ++turn)
    for (std::size_t k = 0; k < calls.size(); ++k) {
      let_others_sleep();
      const long before = interruptions();
      best[k] = std::min(best[k], calls[k]());
      clean[k] += interruptions() == before;
    }
  return best;
}

std::vector<double> compare(const std::vector<std::function<void()>>& calls, patience p, double seconds) {
  std::vector<std::function<double()>> timed;
  for (const auto& call : calls) timed.push_back([&call, seconds] { return turn_of(call, seconds); });
  return compare_timed(timed, p);
}

double read_ceiling(double bytes) {
  const index_t n = std::max<index_t>(static_cast<index_t>(bytes / 8), 64);
  host_array<double> memory(n);
  host_array<double> sink(cpu::thread_count() * 8);
  const auto fill = [&](index_t first, index_t last) { std::fill(memory.data() + first, memory.data() + last, 1.0); };
  cpu::for_each_range(n, 1024, fill);
  const index_t parts = cpu::thread_count();
  const auto read = [&] {
    cpu::for_each_task(parts, [&](index_t k) {
      cpu::widest([&]() FURROW_INLINE {
        alignas(64) double lane[64] = {};
        const double* const end = memory.data() + cpu::part_begin(n, parts, k + 1);
        for (const double* at = memory.data() + cpu::part_begin(n, parts, k); at + 64 <= end; at += 64) {
#pragma omp simd
          for (int l = 0; l < 64; ++l) lane[l] += at[l];
        }
        double total = 0;
        for (const double share : lane) total += share;
        sink[8 * k] = total;
      });
    });
  };
  return bytes / compare({read}, {2, 8}, 0.004)[0];
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "unknown";
}

} // namespace furrow::bench
