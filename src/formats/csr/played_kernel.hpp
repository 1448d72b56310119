// SPDX-License-Identifier: BSD-3-Clause
// For tests: a kernel of csr whose arithmetic one thread plays on the host, so that it is checked where there is no
// GPU.
#pragma once
#include "convert.hpp"

#include "kit/matrices.hpp"
#include "kit/random.hpp"
#include "kit/row_error.hpp"

#include <gtest/gtest.h>

namespace furrow {

/// play(A, alpha, x, beta, y) -> alpha A x + beta y, for `m` in the precision V: within the bound of a row, with beta
/// and without.
template <class V, class F> void check_played(const kit::named_matrix& m, F play) {
  const auto a = kit::as_precision<V>(m.a);
  const auto x = kit::random_vector<V>(a.shape.cols, 107), y = kit::random_vector<V>(a.shape.rows, 108);
  const auto made = to_csr<std::int32_t>(a);
  for (const V beta : {V(0), V(-0.5)}) {
    const host_array<V> got = play(made, V(2), as_cview(x), beta, y);
    EXPECT_LE(kit::row_error(kit::reference_product(a, V(2), as_cview(x), beta, as_cview(y)), as_cview(got)), 1)
        << m.name << ", beta = " << beta;
  }
}

} // namespace furrow
