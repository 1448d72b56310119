// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

namespace furrow {

/// Whether so many elements are `count` vectors of `each`, also where the product leaves the range.
inline bool are_vectors(index_t elements, index_t count, index_t each) {
  index_t wanted = 0;
  return !__builtin_mul_overflow(count, each, &wanted) && elements == wanted;
}

} // namespace furrow
