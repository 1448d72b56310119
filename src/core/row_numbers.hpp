// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/cpu/isa.hpp"

#include <furrow/view.hpp>

#include <algorithm>
#include <cstdint>

namespace furrow {

/// How many elements behind the last one `write_row_numbers` may write.
inline constexpr index_t row_numbers_beyond = 16;

/// to[k - first] <- r + before, where row_ptr[r] <= k < row_ptr[r + 1], for the entries [first, last), of which the
/// first is in `row` or in a later one; returns the row of the last. 16 at a time, of which the next row takes back
/// what it has: a loop for each row would be mispredicted at its end.
template <class I>
index_t write_row_numbers(const I* row_ptr, index_t row, index_t first, index_t last, index_t before,
                          std::int32_t* to) {
  cpu::widest([&]() FURROW_INLINE {
    for (index_t k = first; k < last; ++row) {
      const index_t end = std::min<index_t>(row_ptr[row + 1], last);
      const auto number = static_cast<std::int32_t>(row + before);
      for (; k < end; k += row_numbers_beyond)
        for (index_t i = 0; i < row_numbers_beyond; ++i) to[k - first + i] = number;
      k = end;
    }
  });
  return std::max<index_t>(row - 1, 0);
}

} // namespace furrow
