// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <chrono>

namespace furrow {

/// Seconds since some moment before the process began; never runs backwards.
inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // namespace furrow
