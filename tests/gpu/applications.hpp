// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/operator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace furrow {

/// M r by the host and by the GPU, `off` apart of the largest element, and by the GPU again with the same bits.
template <class V>
void expect_same_product(const any_preconditioner<V>& here, const any_preconditioner<V>& there, const host_array<V>& r,
                         double off) {
  host_array<V> expected(r.size(), V(0));
  here.apply(as_cview(r), as_view(expected));
  const gpu_array<V> on_device(r);
  gpu_array<V> z(r.size()), again(r.size());
  there.apply(as_cview(on_device), as_view(z));
  for (int turn = 0; turn < 3; ++turn) there.apply(as_cview(on_device), as_view(again));
  const host_array<V> got(z), repeated(again);
  double size = 0;
  for (const V v : expected) size = std::max(size, std::abs(double(v)));
  for (index_t i = 0; i < r.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], off * size) << i;
    ASSERT_EQ(got[i], repeated[i]) << i;
  }
  EXPECT_EQ(there.describe(), here.describe());
}

} // namespace furrow
