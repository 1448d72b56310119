// SPDX-License-Identifier: BSD-3-Clause
#pragma once

extern "C" void __asan_init() __attribute__((weak)); // NOLINT(bugprone-reserved-identifier)

namespace furrow::kit {

/// Whether the library that a test is linked to has AddressSanitizer: tests are compiled once, for it with and without.
inline bool sanitized() { return &__asan_init != nullptr; }

/// How often a test repeats what it checks. With sanitizers a step takes many times as long, and they see all there is
/// to see in the first few.
inline int repeats(int all, int with_sanitizers) { return sanitized() ? with_sanitizers : all; }

} // namespace furrow::kit
