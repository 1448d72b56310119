// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/operator.hpp>

#include <algorithm>
#include <cmath>

namespace furrow {

/// The largest |v_i| of a vector in the memory of the current GPU; not finite where an element is not. One pass, waits.
template <class V> double largest_on_gpu(cview<V> v);
/// The largest sum of a row's entries, each rounded, of an operator on the current GPU. A product and a pass, waits.
template <class V> double largest_row_sum_on_gpu(const any_operator<V>& a);

/// The largest |v_i| of a vector in host memory, by one thread; elements that are no numbers are passed over.
template <class V> double largest_element(cview<V> v) {
  double size = 0;
  for (const V e : v) size = std::max(size, std::abs(double(e)));
  return size;
}

/// Whether all elements of a vector in host memory are 0; NaN is not. Up to the first one that is not.
template <class V> bool is_zero(cview<V> v) {
  return std::all_of(v.begin(), v.end(), [](V e) { return e == V(0); });
}

/// The 2-norm of a vector in host memory, by one thread; squares do not leave the range.
template <class V> double length_of(cview<V> v) {
  const double most = largest_element(v);
  double squares = 0;
  for (const V e : v) squares += most > 0 ? double(e) / most * (double(e) / most) : 0;
  return most * std::sqrt(squares);
}

} // namespace furrow
