// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <vector>

namespace furrow {

/// Where infinities in x go. x is 0 but for an infinity in some elements that lie apart, so that A x is a
/// NaN or an infinity in the rows that have an entry there, and 0 in all others.
template <class V> struct infinity_probe {
  host_array<V> x;
  std::vector<char> reached; ///< of each row, whether it has an entry there
};

/// One pass over `a`, whose values are finite.
template <class V> infinity_probe<V> probe_of(const coo<V>& a);

/// What an operator made of it.
struct infinity_reach {
  index_t spread = 0;  ///< rows without an entry there that are not finite: padding was multiplied
  index_t hidden = -1; ///< the first row with an entry there that is finite, which is wrong; -1: none
};
template <class V> infinity_reach reach_of(const infinity_probe<V>& probe, cview<V> y);

} // namespace furrow
