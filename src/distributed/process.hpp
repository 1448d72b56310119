// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>
#include <random>

namespace furrow {

/// The same in all threads of this process, and in no other one.
using process_token = std::array<std::uint32_t, 4>;

inline const process_token& token_of_process() {
  static const process_token token = [] {
    std::random_device source;
    return process_token{source(), source(), source(), source()};
  }();
  return token;
}

} // namespace furrow
