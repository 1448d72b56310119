// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/chebyshev/product.hpp>

#include <algorithm>
#include <array>

/// How the classic kernels are launched, on a GPU and where they are played.
namespace furrow::chebyshev {

inline constexpr std::array classic_algorithms{algorithm::thread, algorithm::block, algorithm::block_sweep,
                                               algorithm::warp};
inline bool is_classic(algorithm how) { return std::ranges::count(classic_algorithms, how) > 0; }

inline constexpr int classic_threads = 256; ///< of a block, unless told otherwise

/// Threads of a block: `asked`, or as many as usual where that is 0. Throws `fault::usage` unless `asked` is a power of
/// two from 32 to 1024, for a block that is smaller than one of the warps of `warp` lanes that a kernel works with, and
/// for an algorithm that has no blocks.
int classic_block(algorithm how, int asked, int warp);

/// Blocks of so many threads for that many coefficients.
inline index_t classic_blocks(algorithm how, int threads, int warp, index_t coefficients) {
  const bool whole = how == algorithm::block || how == algorithm::block_sweep;
  const index_t each = how == algorithm::thread ? threads : whole ? 1 : threads / warp;
  return (coefficients + each - 1) / each;
}

} // namespace furrow::chebyshev
