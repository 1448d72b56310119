// SPDX-License-Identifier: BSD-3-Clause
// read_bench FILE [--threads N] [--repeat N]: reads FILE and prints one JSON object: seconds of every reading, sizes,
// and the peak memory of the whole process. bench/read_matrix.py runs it beside its rival.
#include <furrow/device.hpp>
#include <furrow/io.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/resource.h>

int main(int count, char** words) try {
  int repeat = 1, threads = 0;
  const char* file = nullptr;
  for (int k = 1; k < count; ++k) {
    if (!std::strcmp(words[k], "--threads") && k + 1 < count) threads = std::atoi(words[++k]);
    else if (!std::strcmp(words[k], "--repeat") && k + 1 < count) repeat = std::atoi(words[++k]);
    else file = words[k];
  }
  if (!file) {
    std::fprintf(stderr, "usage: read_bench FILE [--threads N] [--repeat N]\n");
    return 2;
  }
  furrow::set_threads(threads);
  std::printf("{\"seconds\": [");
  furrow::problem p;
  for (int k = 0; k < repeat; ++k) {
    p = {};
    const auto begin = std::chrono::steady_clock::now();
    p = furrow::read_matrix(file);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("%s%.6f", k ? ", " : "", took.count());
  }
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  std::printf("], \"threads\": %d, \"rows\": %lld, \"cols\": %lld, \"entries\": %lld, \"peak_bytes\": %lld}\n",
              furrow::threads(), static_cast<long long>(p.a.shape.rows), static_cast<long long>(p.a.shape.cols),
              static_cast<long long>(p.a.nnz()), static_cast<long long>(use.ru_maxrss) * 1024);
} catch (const furrow::error& wrong) {
  std::fprintf(stderr, "%s\n", wrong.what());
  return 3;
}
