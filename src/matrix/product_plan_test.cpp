// SPDX-License-Identifier: BSD-3-Clause
#include "matrix/multiply.hpp"
#include "matrix/product_plan.hpp"
#include "matrix/transpose.hpp"

#include <furrow/device.hpp>

#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace furrow {
namespace {

/// `each` entries a row at random places, some rows without any, values in (-1, 1).
row_matrix<double> scattered(shape2 shape, index_t each, std::uint64_t seed) {
  kit::splitmix random(seed);
  std::vector<kit::triplet> entries;
  for (index_t i = 0; i < shape.rows; ++i)
    for (index_t k = 0; k < each && i % 17 != 3; ++k)
      entries.push_back({i, random.below(shape.cols), double(random.below(1 << 20)) / (1 << 19) - 1});
  return to_rows(kit::assemble(shape, std::move(entries)));
}

TEST(triple_product_plan, has_the_bits_of_the_product_for_any_values_and_number_of_threads) {
  auto a = scattered({1300, 1300}, 9, 1), p = scattered({1300, 170}, 3, 2);
  auto r = transposed(p.view());
  const triple_product_plan plan(a.view(), p.view(), r.view(), triple_product(r.view(), a.view(), p.view()).view());
  EXPECT_GT(plan.stored_bytes(), 4 * double(plan.col().size));
  for (const double factor : {1.0, -3.5, 1e-200}) {
    for (double& v : a.val) v = factor * v + (factor < 0 ? 0.25 : 0);
    for (index_t k = 0; k < p.nnz(); ++k) p.val[k] = double(k % 7) - 2; // some are 0
    r = transposed(p.view());
    const auto truth = triple_product(r.view(), a.view(), p.view());
    for (const int threads : {1, 2, 7}) {
      set_threads(threads);
      host_array<double> got(plan.col().size);
      plan.multiply(r.view(), a.view(), p.view(), as_view(got));
      ASSERT_EQ(got.size(), truth.nnz());
      EXPECT_EQ(std::memcmp(got.data(), truth.val.data(), got.byte_count()), 0) << factor << ' ' << threads;
      EXPECT_TRUE(std::ranges::equal(plan.col(), truth.col) && std::ranges::equal(plan.row_ptr(), truth.row_ptr));
    }
    set_threads(0);
  }
}

TEST(triple_product_plan, has_them_of_blocks_too) {
  for (const int block : {2, 3, 6, 7, 9}) { // 9: by loops of 1
    const index_t nodes = 210, groups = 30;
    const auto blown_up = [&](row_matrix<double> a, bool whole) { // each entry a block, some of A without a corner
      std::vector<kit::triplet> e;
      for (index_t i = 0; i < a.shape.rows; ++i)
        for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k)
          for (int r = 0; r < block; ++r)
            for (int c = 0; c < block; ++c)
              if (whole || k % 5 != 0 || r + c > 0)
                e.push_back({i * block + r, a.col[k] * block + c, a.val[k] + 0.1 * r - 0.3 * c});
      return to_rows(kit::assemble({a.shape.rows * block, a.shape.cols * block}, std::move(e)));
    };
    const auto a = blown_up(scattered({nodes, nodes}, 7, 3), false),
               p = blown_up(scattered({nodes, groups}, 2, 4), true);
    const auto r = transposed(p.view());
    const auto truth = triple_product(r.view(), a.view(), p.view());
    const triple_product_plan plan(a.view(), p.view(), r.view(), truth.view(), block);
    host_array<double> got(plan.col().size);
    plan.multiply(r.view(), a.view(), p.view(), as_view(got));
    EXPECT_EQ(std::memcmp(got.data(), truth.val.data(), got.byte_count()), 0) << block;
  }
}

TEST(triple_product_plan, says_where_a_row_has_too_many_entries) {
  for (const index_t n : {256, 257, 65536, 65537}) {
    std::vector<kit::triplet> entries, ones;
    for (index_t i = 0; i < n; ++i) {
      ones.push_back({i, i, 1});
      entries.push_back({0, i, double(i)});
    }
    const auto a = to_rows(kit::assemble({n, n}, std::move(entries))),
               p = to_rows(kit::assemble({n, n}, std::move(ones)));
    const auto r = transposed(p.view());
    const triple_product_plan plan(a.view(), p.view(), r.view(), a.view());
    EXPECT_EQ(plan.fits(), n <= 65536);
    if (!plan.fits()) continue;
    host_array<double> got(n);
    plan.multiply(r.view(), a.view(), p.view(), as_view(got));
    EXPECT_TRUE(std::ranges::equal(got, a.val));
  }
}

TEST(triple_product_plan, of_nothing_is_nothing) {
  const row_matrix<double> a{{3, 3}, host_array<index_t>(4, 0), {}, {}}, p{{3, 2}, host_array<index_t>(4, 0), {}, {}};
  const auto r = transposed(p.view());
  const triple_product_plan plan(a.view(), p.view(), r.view(), triple_product(r.view(), a.view(), p.view()).view());
  host_array<double> none;
  plan.multiply(r.view(), a.view(), p.view(), as_view(none));
  EXPECT_EQ(plan.col().size, 0);
  EXPECT_EQ(plan.shape(), (shape2{2, 2}));
}

} // namespace
} // namespace furrow
