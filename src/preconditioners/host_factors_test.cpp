// SPDX-License-Identifier: BSD-3-Clause
#include "host_factors.hpp"

#include "preconditioners/incomplete_lu.hpp"

#include <gtest/gtest.h>

namespace furrow {
namespace {

/// Rows that need the one `apart` before them (after them: of the upper one).
row_matrix<double> chain(index_t n, index_t apart, triangle side) {
  row_matrix<double> t{{n, n}, host_array<index_t>(n + 1), {}, {}};
  const auto has = [&](index_t i) { return side == triangle::lower ? i >= apart : i + apart < n; };
  t.row_ptr[0] = 0;
  for (index_t i = 0; i < n; ++i) t.row_ptr[i + 1] = t.row_ptr[i] + has(i);
  t.col.resize(t.row_ptr[n]), t.val.resize(t.row_ptr[n]);
  for (index_t i = 0; i < n; ++i)
    if (has(i)) {
      t.col[t.row_ptr[i]] = std::int32_t(side == triangle::lower ? i - apart : i + apart);
      t.val[t.row_ptr[i]] = 0.5;
    }
  return t;
}

struct both_sides {
  row_matrix<double> lower, upper;
  both_sides(index_t n, index_t apart)
      : lower(chain(n, apart, triangle::lower)), upper(chain(n, apart, triangle::upper)) {}
};

TEST(host_factors, stay_where_levels_hold_few_rows) {
  const both_sides of_one(20000, 1), of_many(20000, 2000), none(0, 1);
  EXPECT_FALSE(lets_factors_stay::decide(of_one.lower, of_one.upper)); // nobody lets them
  {
    const lets_factors_stay there;
    EXPECT_TRUE(lets_factors_stay::decide(of_one.lower, of_one.upper));
    EXPECT_TRUE(there.stayed());
    EXPECT_FALSE(lets_factors_stay::decide(of_many.lower, of_many.upper));
    EXPECT_FALSE(there.stayed());
    EXPECT_FALSE(lets_factors_stay::decide(none.lower, none.upper));
  }
  EXPECT_FALSE(lets_factors_stay::decide(of_one.lower, of_one.upper));
}

TEST(host_factors, take_a_level_after_the_other_on_a_gpu) {
  const both_sides of_one(20000, 1), of_two(20000, 2);
  const auto one = expected_step(of_one.lower, of_one.upper), two = expected_step(of_two.lower, of_two.upper);
  EXPECT_NEAR(one.gpu, 2 * two.gpu, 0.01 * one.gpu);
  EXPECT_GT(one.gpu, 0.01); // 40,000 levels
  EXPECT_NEAR(one.host, two.host, 0.01 * one.host);
}

/// A GPU is asked for, and the host's are made: no GPU is needed for that.
TEST(host_factors, are_the_hosts) {
  both_sides t(20000, 1);
  const lets_factors_stay there;
  const auto m =
      make_factored<double>({std::move(t.lower), std::move(t.upper), {}, {}, {}, "a chain"}, {device::kind::gpu});
  EXPECT_TRUE(there.stayed());
  const host_array<double> r(20000, 1.0);
  host_array<double> z(20000);
  m->apply(as_cview(r), as_view(z));
  EXPECT_EQ(m->describe(), "a chain");
}

} // namespace
} // namespace furrow
