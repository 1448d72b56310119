// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

namespace furrow {

/// Throws `fault::input` and names the first pair of entries for which A[i,j] and A[j,i] differ by more than rounding.
/// An absent entry equals a stored zero. Values may differ by 64 units in the last place of the larger one, and where
/// contributions cancelled, of sqrt(r_i r_j), r_i the largest |A[i,k]| of row i: programs that assemble both triangles
/// round twice. Parallel; about the cost of a product, twice that where a pair is as close as rounding alone explains.
template <class V> void check_symmetry(const coo<V>& a);

/// The same question without an answer in words. False for a matrix that is not square.
template <class V> bool is_symmetric(const coo<V>& a);

} // namespace furrow
