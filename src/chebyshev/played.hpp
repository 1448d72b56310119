// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/play/report.hpp"

#include <furrow/chebyshev/product.hpp>

namespace furrow::chebyshev {

/// c <- the first c.size coefficients of a b by `thread`, `block` or `warp`, played without a GPU: their bits. Throws
/// `fault::usage` for another algorithm.
template <class V>
play::kernel_report play_product(cview<V> a, cview<V> b, convention series, algorithm how, view<V> c,
                                 const play::settings& settings);

} // namespace furrow::chebyshev
