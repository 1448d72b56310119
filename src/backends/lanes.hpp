// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

namespace furrow {

/// Which share of a row a thread owns: every `size`-th element from `rank` on. Plain numbers, so that the host can play
/// every width.
struct lanes {
  int rank = 0, size = 1;
};

/// y <- alpha sum + beta y for one element. beta == 0 does not read y.
template <class V> FURROW_HD void store(V alpha, V sum, V beta, V& y) {
  y = beta == V(0) ? alpha * sum : alpha * sum + beta * y;
}

} // namespace furrow
