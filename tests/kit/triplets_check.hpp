// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "guarded.hpp"

#include <furrow/coo.hpp>

namespace furrow::kit {

/// Expects the same shape and the same triplets in the same order, bit by bit.
template <class V> void expect_same(const coo<V>& found, const coo<V>& expected) {
  EXPECT_EQ(found.shape, expected.shape);
  EXPECT_TRUE(same_bits(as_cview(found.row), as_cview(expected.row)));
  EXPECT_TRUE(same_bits(as_cview(found.col), as_cview(expected.col)));
  EXPECT_TRUE(same_bits(as_cview(found.val), as_cview(expected.val)));
}

/// A function of a change: what `violation` says of a copy of `good` that went through it.
template <class Matrix> auto violation_after(const Matrix& good) {
  return [&good](auto change) {
    Matrix changed = good;
    change(changed);
    return violation(changed);
  };
}

} // namespace furrow::kit
