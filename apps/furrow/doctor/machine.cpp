// SPDX-License-Identifier: BSD-3-Clause
#include "machine.hpp"

#include "core/memory_limits.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace furrow::cli {
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

std::vector<std::pair<std::string, std::string>> settings() {
  std::vector<std::pair<std::string, std::string>> found;
  for (char** variable = environ; *variable; ++variable) {
    const std::string text = *variable;
    const std::string name = text.substr(0, text.find('='));
    if (name.starts_with("FURROW_") || name == "CUDA_VISIBLE_DEVICES" || name == "NO_COLOR")
      found.emplace_back(name, text.substr(std::min(name.size() + 1, text.size())));
  }
  std::ranges::sort(found);
  return found;
}

} // namespace furrow::cli
