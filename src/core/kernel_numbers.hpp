// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/error.hpp>
#include <furrow/formats.hpp>

#include <string>
#include <string_view>
#include <type_traits>

namespace furrow {

/// What was said behind a kernel's name, as in "vector:lanes=8,block=128"; 0: the kernel decides.
struct kernel_numbers {
  int lanes = 0; ///< a row
  int block = 0; ///< threads
};

inline constexpr int least_block = 32, most_block = 1024;
/// Lanes that run together on the GPUs that this library is compiled for.
inline constexpr int lanes_of_a_warp = 32;

/// "vector" of "vector:lanes=8".
std::string_view kernel_name(std::string_view kernel);
/// "vector[:lanes=L,block=B]".
std::string kernel_usage(std::string_view name, kernel_freedom free);

/// Takes `kernel` apart. Throws `fault::usage` for what a kernel of that freedom has no use for, and unless lanes are a
/// power of two from 2 to `warp`, the lanes that run together there, and a block one from `least_block` to
/// `most_block`.
kernel_numbers read_kernel_numbers(std::string_view kernel, kernel_freedom free, int warp);
/// The same for one that was checked: words that are missing are 0, and all others are there.
kernel_numbers read_kernel_numbers(std::string_view kernel);

/// f(B) with B = `block` as a type.
template <class F> auto with_block(int block, F&& f) {
  using std::integral_constant;
  switch (block) {
  case 32:
    return f(integral_constant<int, 32>{});
  case 64:
    return f(integral_constant<int, 64>{});
  case 128:
    return f(integral_constant<int, 128>{});
  case 256:
    return f(integral_constant<int, 256>{});
  case 512:
    return f(integral_constant<int, 512>{});
  case 1024:
    return f(integral_constant<int, 1024>{});
  default:
    throw error(fault::internal, "no kernel has blocks of " + std::to_string(block));
  }
}

} // namespace furrow
