// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/play/report.hpp"

#include <furrow/chebyshev/product.hpp>

namespace furrow::chebyshev {

/// c <- the first c.size coefficients of a b by `thread`, `block`, `block_sweep` or `warp`, played without a GPU: their
/// bits. `block`: threads of a block, 0 for 256. Throws `fault::usage` for another algorithm, and as `classic_block`.
template <class V>
play::kernel_report play_product(cview<V> a, cview<V> b, convention series, algorithm how, view<V> c,
                                 const play::settings& settings, int block = 0);

} // namespace furrow::chebyshev
