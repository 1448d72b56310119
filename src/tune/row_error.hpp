// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

namespace furrow {

/// What y = alpha A x should be, and by how much rounding may miss it.
/// value: in long double. bound: (row length + 2) u |alpha| sum |a_ij x_j|, u the unit roundoff of V: an element at
/// most that far off passes; of products below the normal numbers of V as many of the smallest one more. Infinite where
/// partial sums may leave the range of V: whatever y_i is passes.
struct row_reference {
  host_array<long double> value;
  host_array<double> bound;
};

/// One parallel pass over `a`.
template <class V> row_reference reference_product(const coo<V>& a, cview<V> x, V alpha = V(1));

/// The largest |y_i - value_i| / bound_i; at most 1 passes. Where the bound is 0, y_i must be 0. NaN counts as
/// infinite.
template <class V> double largest_row_error(const row_reference& reference, cview<V> y);

/// b = A * ones: sums in double, rounded once.
template <class V> host_array<V> row_sums(const coo<V>& a);

} // namespace furrow
