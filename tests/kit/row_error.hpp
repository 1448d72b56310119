// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <vector>

namespace furrow::kit {

/// Largest row error that this process has seen; GPU receipts quote it.
double worst_row_error();
void note_row_error(double error);

/// alpha A x + beta y in long double, beside what rounding may change.
struct reference {
  std::vector<long double> value;
  std::vector<long double> bound; ///< (row length + 2) u (|alpha| sum|a_ij x_j| + |beta y_i|)
};

/// alpha == 0 does not read x, beta == 0 does not read y: they may hold anything.
template <class V> reference reference_product(const coo<V>& a, V alpha, cview<V> x, V beta, cview<V> y);

/// Largest |y - reference| / bound over the rows: at most 1 passes. No absolute floor: a row with the bound 0 must be
/// exact. A NaN counts as infinite.
template <class V> double row_error(const reference& expected, cview<V> y);

/// u . y in long double, and by how much a sum in double may miss it: (n + 2) 2^-53 sum |u_i y_i|.
struct dot_reference {
  long double value = 0, bound = 0;
};
template <class V> dot_reference reference_dot(cview<V> u, cview<V> y);

} // namespace furrow::kit
