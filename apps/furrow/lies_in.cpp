// SPDX-License-Identifier: BSD-3-Clause
#include "lies_in.hpp"

#include "backends/cpu/caches.hpp"

#include <furrow/formats.hpp>

namespace furrow::cli {

std::string_view lies_in(device where, double bytes) {
  const double second = where.is_gpu() ? typical_machine(where).cache : second_level_cache() * threads();
  if (bytes <= second) return "L2";
  return !where.is_gpu() && bytes <= last_level_cache() ? "L3" : "memory";
}

} // namespace furrow::cli
