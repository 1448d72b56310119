// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>
#include <furrow/value.hpp>

namespace furrow {

/// Values of one pair may differ by this many units in the last place: programs that assemble both triangles round
/// twice.
inline constexpr int tolerated_units = 64;
template <class V> inline constexpr V tolerated_difference = V(tolerated_units) * epsilon_of<V>;

/// Whether the values of a pair differ by more, of the largest of them and `size`. A NaN differs from everything.
template <class V> FURROW_HD bool differ(V one, V other, V size) {
  const V apart = one < other ? other - one : one - other;
  const V first = one < 0 ? -one : one, second = other < 0 ? -other : other;
  V most = size;
  if (most < first) most = first;
  if (most < second) most = second;
  return !(apart <= tolerated_difference<V> * most);
}

/// Throws `fault::input` and names the first pair of entries for which A[i,j] and A[j,i] differ by more than rounding.
/// An absent entry equals a stored zero. Values may differ by 64 units in the last place of the larger one, and where
/// contributions cancelled, of sqrt(r_i r_j), r_i the largest |A[i,k]| of row i: programs that assemble both triangles
/// round twice. Parallel; about the cost of a product, up to three times that where entries have no mirror or a pair is
/// as close as rounding alone explains; 12 bytes a row, of which 4 for each thread.
template <class V> void check_symmetry(const coo<V>& a);

/// The same question without an answer in words. False for a matrix that is not square.
template <class V> bool is_symmetric(const coo<V>& a);
/// The same where it is known where the rows begin: shape.rows + 1 offsets.
template <class V> bool is_symmetric(const coo<V>& a, const host_array<index_t>& row_ptr);

} // namespace furrow
