// SPDX-License-Identifier: BSD-3-Clause
#include "caches.hpp"

#include <unistd.h>

#include <fstream>
#include <string>

namespace furrow {
namespace {

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

double last_level_cache() {
  static const double size = cache_size(3, _SC_LEVEL3_CACHE_SIZE, 32 << 20);
  return size;
}

double second_level_cache() {
  static const double size = cache_size(2, _SC_LEVEL2_CACHE_SIZE, 1 << 20);
  return size;
}

} // namespace furrow
