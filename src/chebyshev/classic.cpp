// SPDX-License-Identifier: BSD-3-Clause
#include "classic.hpp"

#include "core/check.hpp"
#include "core/kernel_numbers.hpp"

#include <bit>

namespace furrow::chebyshev {

int classic_block(algorithm how, int asked, int warp) {
  if (!asked) return classic_threads;
  check(is_classic(how), fault::usage, "algorithm '{}' has no blocks of threads whose size could be chosen: leave it 0",
        name_of(how));
  check(asked >= least_block && asked <= most_block && std::has_single_bit(static_cast<unsigned>(asked)), fault::usage,
        "algorithm '{}': a block of {} threads: give a power of two from {} to {}", name_of(how), asked, least_block,
        most_block);
  const bool in_warps = how == algorithm::block || how == algorithm::warp;
  check(!in_warps || asked >= warp, fault::usage,
        "algorithm '{}': a block of {} threads is less than a warp of {} lanes: give a larger one", name_of(how), asked,
        warp);
  return asked;
}

} // namespace furrow::chebyshev
