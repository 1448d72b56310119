// SPDX-License-Identifier: BSD-3-Clause
#include "processor.hpp"

#include "memory_limits.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace furrow {
namespace {

std::string word_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

/// "32768K" as bytes.
double size_of(const std::string& text) {
  const double number = std::atof(text.c_str());
  return text.ends_with("K") ? number * 1024 : text.ends_with("M") ? number * 1024 * 1024 : number;
}

} // namespace

processor inspect_processor() {
  processor p;
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string text; p.name.empty() && std::getline(cpuinfo, text);)
    if (text.starts_with("model name")) p.name = text.substr(std::min(text.find(':') + 2, text.size()));
  if (p.name.empty()) p.name = "unknown";
  for (int k = 0; k < 8; ++k) {
    const std::filesystem::path folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(k);
    const std::string level = word_in(folder / "level"), type = word_in(folder / "type");
    if (level.empty() || type == "Instruction") continue;
    p.caches.emplace_back("L" + level + (type == "Data" ? "d" : ""), size_of(word_in(folder / "size")));
  }
  return p;
}

double total_memory() {
  const double bytes = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
  return std::min(bytes, double(memory_limits().most));
}

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) * 1024;
}

} // namespace furrow
