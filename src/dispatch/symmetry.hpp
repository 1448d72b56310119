// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

namespace furrow {

/// Throws `fault::input`, naming the first pair of entries that differ, unless A[i,j] == A[j,i] for all i and j, in
/// pattern and within `tolerance` times the larger of the two values. An absent entry equals a stored zero. Parallel;
/// one binary search an entry below the diagonal.
template <class V> void check_symmetry(const coo<V>& a);

/// Whether `check_symmetry` would pass.
template <class V> bool is_symmetric(const coo<V>& a);

} // namespace furrow
