// SPDX-License-Identifier: BSD-3-Clause
// Inverses of the last level of multigrid on the GPU.
#include "on_gpu.hpp"

#include "preconditioners/amg/dense.hpp"
#include "preconditioners/amg/gpu_dense.hpp"
#include "preconditioners/amg/gpu_setup.hpp"

#include "kit/matrices.hpp"

#include <furrow/storage.hpp>

#include <cmath>

namespace furrow {
namespace {

struct gpu_dense_inverse : on_gpu {};

/// A chain with ends that hold it: |A^-1| is some n^2 / 8.
row_matrix<double> chain(index_t n, double ends) {
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < n; ++i) {
    const bool first = i == 0, last = i == n - 1;
    entries.push_back({i, i, 2 - (first ? 1 - ends : 0) - (last ? 1 - ends : 0)});
    if (!first) entries.push_back({i, i - 1, -1});
    if (!last) entries.push_back({i, i + 1, -1});
  }
  return to_rows(kit::assemble({n, n}, std::move(entries)));
}

TEST_F(gpu_dense_inverse, is_one_for_every_number_of_pivots_and_tiles) {
  for (const index_t n : {1, 2, 15, 16, 17, 31, 32, 33, 48, 100, 257, 500}) {
    const auto a = chain(n, 1);
    const auto found = amg::dense_inverse(view_of(amg::uploaded(a.view())));
    ASSERT_TRUE(found) << n;
    const host_array<double> x(*found);
    ASSERT_EQ(x.size(), n * n);
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j) {
        long double sum = 0;
        for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
          sum += static_cast<long double>(a.val[k]) * x[index_t(a.col[k]) * n + j];
        ASSERT_NEAR(static_cast<double>(sum), i == j ? 1 : 0, 1e-14 * double(n * n)) << n << ' ' << i << ' ' << j;
        ASSERT_EQ(x[i * n + j], x[j * n + i]) << n;
      }
  }
}

TEST_F(gpu_dense_inverse, of_what_is_singular_is_the_hosts_and_of_what_is_indefinite_none) {
  const auto loose = chain(40, 0);
  const auto found = amg::dense_inverse(view_of(amg::uploaded(loose.view())));
  const auto wanted = amg::dense_inverse(loose.view());
  ASSERT_TRUE(found && wanted);
  const host_array<double> x(*found);
  for (index_t k = 0; k < x.size(); ++k) ASSERT_EQ(x[k], (*wanted)[k]) << k;
  const auto indefinite = to_rows(kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 2}, {1, 0, 2}, {1, 1, 1}}));
  EXPECT_FALSE(amg::dense_inverse(view_of(amg::uploaded(indefinite.view()))));
}

} // namespace
} // namespace furrow
