// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "panel_product.hpp"

namespace furrow::lu {

/// X <- X L'^-1 with X of m x w and the lower triangle L of w x w; `unit`: ones stand on its diagonal, whatever is
/// stored there. X shares no memory with L. By halves, down to 16 columns: m w^2 operations, nearly all of them in
/// products of panels. Parallel as `subtract_product` is, the same bits for every number of threads.
void solve_transposed_from_right(panel x, index_t m, panel l, index_t w, bool unit);

} // namespace furrow::lu
