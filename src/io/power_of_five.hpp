// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <array>
#include <cstdint>

namespace furrow::io {

/// The 128 leading bits of 5^q: `high * 2^64 + low`, with the top bit set.
struct power_of_five {
  std::uint64_t high = 0, low = 0;
};

inline constexpr int smallest_power = -342, largest_power = 308;

/// 5^q for smallest_power <= q <= largest_power, at [q - smallest_power]; rounded down for q >= 0 and q < -27, and up
/// for -27 <= q < 0, as the proof of Mushtak and Lemire (Fast number parsing without fallback, 2023) wants it.
/// Made on first use, in some 30 us.
using power_table = std::array<power_of_five, largest_power - smallest_power + 1>;
const power_table& powers_of_five();

} // namespace furrow::io
