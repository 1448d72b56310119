// SPDX-License-Identifier: BSD-3-Clause
#include "memory_place.hpp"

#include "check.hpp"

namespace furrow {

bool lie_on_gpu(device where, const std::array<placed, 2>& vectors) {
  for (const auto& [name, at] : vectors) {
    if (at.host) continue;
    check(where.is_gpu(), fault::usage, "{} lies on gpu:{}, but this runs on the CPU: give it in host memory", name,
          at.ordinal);
    check(at.ordinal == where.ordinal, fault::usage,
          "{} lies on gpu:{}, but this runs on gpu:{}: give it there, or in host memory", name, at.ordinal,
          where.ordinal);
  }
  if (!where.is_gpu()) return false;
  const auto& [x, y] = vectors;
  if (x.at.gpu && y.at.gpu) return true;
  const bool x_there = !x.at.host, y_there = !y.at.host;
  check(!x_there && !y_there, fault::usage, "{} lies on gpu:{} and {} in host memory: give both in one memory",
        x_there ? x.name : y.name, where.ordinal, x_there ? y.name : x.name);
  return false;
}

} // namespace furrow
