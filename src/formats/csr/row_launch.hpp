// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/error.hpp>

#include <string>
#include <string_view>
#include <type_traits>

namespace furrow::csr_format {

/// How a kernel of rows is launched: lanes a row, whether the grid covers all rows or only fills the device, and
/// threads a block, 0 for as many as usual.
struct row_launch {
  int width = 1;
  bool fill = false;
  int block = 0;
};

/// Of the classic kernels, for rows of that mean length on hardware whose warps have so many lanes. `kernel`: with what
/// follows its name, which was checked but for a block that a row's lanes do not fit into: `fault::usage`.
row_launch classic_launch(std::string_view kernel, double mean, int warp);

/// f(W) with W = `width` as a type, a power of two up to `Warp`.
template <int Warp, class F> auto with_width(int width, F&& f) {
  using std::integral_constant;
  switch (width) {
  case 1:
    return f(integral_constant<int, 1>{});
  case 2:
    return f(integral_constant<int, 2>{});
  case 4:
    return f(integral_constant<int, 4>{});
  case 8:
    return f(integral_constant<int, 8>{});
  case 16:
    return f(integral_constant<int, 16>{});
  case 32:
    return f(integral_constant<int, 32>{});
  case 64:
    if constexpr (Warp >= 64) return f(integral_constant<int, 64>{});
    [[fallthrough]];
  default:
    throw error(fault::internal, "no kernel has " + std::to_string(width) + " lanes a row");
  }
}

} // namespace furrow::csr_format
