// SPDX-License-Identifier: BSD-3-Clause
#include "check.hpp"

#include <furrow/operator.hpp>

namespace furrow {

template <class V> void refuse_vectors(shape2 a, cview<V> x, view<V> y) {
  check(x.size == a.cols, fault::usage, "x has {} elements for a matrix of {} x {}: give one for each column", x.size,
        a.rows, a.cols);
  check(y.size == a.rows, fault::usage, "y has {} elements for a matrix of {} x {}: give one for each row", y.size,
        a.rows, a.cols);
  check(x.data || x.empty(), fault::usage, "x points nowhere, but has {} elements", x.size);
  check(y.data || y.empty(), fault::usage, "y points nowhere, but has {} elements", y.size);
  throw error(fault::usage, "x and y share memory: give each its own");
}

template void refuse_vectors(shape2, cview<double>, view<double>);
template void refuse_vectors(shape2, cview<float>, view<float>);

} // namespace furrow
