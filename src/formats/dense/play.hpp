// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/play/report.hpp"

#include <furrow/view.hpp>

#include <string_view>

namespace furrow::dense_format {

/// y <- alpha A x + beta y by `naive` or `tiled`, played without a GPU; A is y.size lines of x.size elements without
/// gaps: the rows of A x, the columns of a column-major A' x.
template <class V>
play::kernel_report play_gemv(cview<V> a, std::string_view kernel, V alpha, cview<V> x, V beta, view<V> y,
                              const play::settings& how);

} // namespace furrow::dense_format
