// SPDX-License-Identifier: BSD-3-Clause
// read_bench FILE [--threads N] [--repeat N]: reads FILE and prints one JSON object: seconds of every reading by the
// clock and of all cores together, sizes, and the peak memory of the whole process. read_matrix.py runs it beside
// SciPy.
#include <furrow/device.hpp>
#include <furrow/io.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <sys/resource.h>

namespace {

double core_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::string list(const std::string& before, double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%s%.6f", before.empty() ? "" : ", ", value);
  return before + text;
}

} // namespace

int main(int count, char** words) try {
  int repeat = 1, threads = 0;
  std::string file;
  for (int k = 1; k < count; ++k) {
    const std::string word = words[k];
    if (word == "--threads" && k + 1 < count) threads = std::atoi(words[++k]);
    else if (word == "--repeat" && k + 1 < count) repeat = std::atoi(words[++k]);
    else file = word;
  }
  if (file.empty()) {
    std::fprintf(stderr, "usage: read_bench FILE [--threads N] [--repeat N]\n");
    return 2;
  }
  furrow::set_threads(threads);
  std::string clock, cores;
  furrow::problem p;
  for (int k = 0; k < repeat; ++k) {
    p = {};
    const double before = core_seconds();
    const auto begin = std::chrono::steady_clock::now();
    p = furrow::read_matrix(file);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    cores = list(cores, core_seconds() - before);
    clock = list(clock, took.count());
  }
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  std::printf("{\"seconds\": [%s], \"core_seconds\": [%s], \"threads\": %d, \"rows\": %lld, \"cols\": %lld, "
              "\"entries\": %lld, \"peak_bytes\": %lld}\n",
              clock.c_str(), cores.c_str(), furrow::threads(), static_cast<long long>(p.a.shape.rows),
              static_cast<long long>(p.a.shape.cols), static_cast<long long>(p.a.nnz()),
              static_cast<long long>(use.ru_maxrss) * 1024);
} catch (const furrow::error& wrong) {
  std::fprintf(stderr, "%s\n", wrong.what());
  return 3;
}
