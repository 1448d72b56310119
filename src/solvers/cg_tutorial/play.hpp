// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/play/report.hpp"

namespace furrow::unfused {

/// sum <- v1 + alpha v2 by `add` of the tutorial, played without a GPU: its bits. `sum` may be v1 or v2.
template <class V>
play::kernel_report play_add(cview<V> v1, V alpha, cview<V> v2, view<V> sum, const play::settings& how);

/// total <- x . y by `dot` of the tutorial, a partial sum a block, added up on the host in their order.
template <class V> play::kernel_report play_dot(cview<V> x, cview<V> y, double& total, const play::settings& how);

} // namespace furrow::unfused
