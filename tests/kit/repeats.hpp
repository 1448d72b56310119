// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace furrow::kit {

/// How often a test repeats what it checks. With sanitizers a step takes many times as long, and they see all there is
/// to see in the first few.
#if defined(__SANITIZE_ADDRESS__)
constexpr int repeats(int, int sanitized) { return sanitized; }
#else
constexpr int repeats(int all, int) { return all; }
#endif

} // namespace furrow::kit
