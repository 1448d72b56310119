// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace furrow {

/// The share of rows that are not as long as the row that followed the last time when the two rows before were as long
/// as now: what a branch predictor may miss. 0 for fewer than 16384 rows, which it learns by heart. Looks at some
/// hundred thousand rows at most, in 16 stretches; `length(row)` are the entries of a row.
template <class Length> double mispredicted_lengths(index_t rows, Length length) {
  constexpr index_t stretches = 16, most = 16384;
  if (rows < 16384) return 0;
  const index_t each = std::min(most, rows / stretches);
  std::array<std::uint32_t, 4096> expected{};
  index_t missed = 0;
  std::uint32_t one_before = 0, two_before = 0;
  for (index_t s = 0; s < stretches; ++s) {
    const index_t begin = rows / stretches * s + rows % stretches * s / stretches;
    for (index_t row = begin; row < begin + each; ++row) {
      const auto now = static_cast<std::uint32_t>(length(row));
      std::uint32_t& guess = expected[(one_before * 0x9e3779b1u + two_before * 0x85ebca6bu) >> 20];
      missed += guess != now;
      guess = now;
      two_before = one_before;
      one_before = now;
    }
  }
  return double(missed) / double(each * stretches);
}

} // namespace furrow
