// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

namespace furrow {

/// The sum of what came since the last end of a row; `fresh` where such an end lies in what was added up.
template <class V> struct run {
  V sum;
  bool fresh;
};

/// Joins two neighbours: the operator of a segmented scan.
struct add_runs {
  template <class V> FURROW_HD run<V> operator()(run<V> left, run<V> right) const {
    return {right.fresh ? right.sum : left.sum + right.sum, left.fresh || right.fresh};
  }
};

} // namespace furrow
