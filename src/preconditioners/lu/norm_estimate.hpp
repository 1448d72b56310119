// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "norm_search.hpp"

namespace furrow::lu {

/// An estimate of |B|_1 from products alone (`norm_search`): `apply` turns a vector x into B x in its place,
/// `apply_transposed` into B' x.
template <class Apply, class ApplyTransposed>
double norm_1_estimate(index_t n, const Apply& apply, const ApplyTransposed& apply_transposed) {
  norm_search search(n);
  while (!search.wants_nothing()) {
    if (search.wants_transposed()) apply_transposed(search.x());
    else apply(search.x());
    search.take();
  }
  if (search.wants_check()) {
    host_array<double> v = search.check();
    apply(v.data());
    search.take_check(v);
  }
  return search.estimate();
}

} // namespace furrow::lu
