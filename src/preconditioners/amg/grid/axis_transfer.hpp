// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "box.hpp"

namespace furrow::amg {

/// P along one direction of a box, where each second point is kept: 1, 3, 5, ... of 0, 1, 2, ... A point that goes
/// takes `lower` times the kept point before it and `upper` times the one after it; 0 where there is none. The weights
/// lie in the box of the points that go.
template <class W, template <class> class Array = host_array> struct axis_transfer {
  box fine;
  int axis = 0;
  Array<W> lower, upper;

  box coarse() const { return fine.with(axis, fine.points[axis] / 2); }
  box gone() const { return fine.with(axis, (fine.points[axis] + 1) / 2); }
  template <template <class> class To, class F> axis_transfer<W, To> map(F f) const {
    return {fine, axis, f(lower), f(upper)};
  }
  /// f(coarse point, weight) for the places of a row of P that exist. On the host.
  template <class F> void each_weight(index_t point, F f) const {
    const index_t step = fine.stride(axis), before = point % step, after = point / (step * fine.points[axis]);
    const index_t k = point / step % fine.points[axis], kept = fine.points[axis] / 2;
    const auto at = [&](index_t extent, index_t j) { return before + step * (j + extent * after); };
    if (k % 2 == 1) return f(at(kept, k / 2), W(1));
    const index_t own = at((fine.points[axis] + 1) / 2, k / 2);
    if (k > 0) f(at(kept, k / 2 - 1), lower[own]);
    if (k / 2 < kept) f(at(kept, k / 2), upper[own]);
  }
};

} // namespace furrow::amg
