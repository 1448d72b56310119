// SPDX-License-Identifier: BSD-3-Clause
// Triplets that are stored column by column, as the first example of a tutorial has them, in every format.
#include "kit/row_error.hpp"
#include "kit/said_by.hpp"

#include <furrow/assemble.hpp>
#include <furrow/formats.hpp>
#include <furrow/stats.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace furrow {
namespace {

/// 1 0 2 0
/// 0 3 0 4
/// 5 0 6 0
/// 0 7 0 8
struct by_columns {
  host_array<int> row{0, 2, 1, 3, 0, 2, 1, 3}, col{0, 0, 1, 1, 2, 2, 3, 3};
  host_array<double> val{1, 5, 3, 7, 2, 6, 4, 8};
};

template <class V> void multiply_in_every_format(const coo<V>& a) {
  const host_array<V> x{1, 2, 3, 4}, expected{7, 22, 23, 46};
  index_t products = 0;
  for (const auto* format : formats()) {
    const stats s = measure(a);
    if (!format->lay_out(s, precision_of<V>, {}).refusal.empty()) continue;
    for (const auto& kernel : format->cpu.kernels) {
      const auto op = make<V>(choose(s, precision_of<V>, {}, {format->name, kernel.name}), {}, a);
      host_array<V> y(4, std::numeric_limits<V>::quiet_NaN());
      op->apply(V(1), as_cview(x), V(0), as_view(y));
      for (index_t i = 0; i < 4; ++i)
        EXPECT_EQ(y[i], expected[i]) << format->name << ' ' << kernel.name << ", row " << i;
      ++products;
    }
  }
  EXPECT_GE(products, 10);
}

TEST(triplets_by_columns, are_multiplied_right_by_every_format) {
  const by_columns t;
  multiply_in_every_format(assemble({4, 4}, as_cview(t.row), as_cview(t.col), as_cview(t.val)));
  const host_array<float> narrow{1, 5, 3, 7, 2, 6, 4, 8};
  multiply_in_every_format(assemble({4, 4}, as_cview(t.row), as_cview(t.col), as_cview(narrow)));
}

/// Handed to a format as they are they are refused, with the way out.
TEST(triplets_by_columns, are_refused_where_they_are_said_to_be_sorted) {
  const by_columns t;
  const coo<double> a{{4, 4}, host_array<std::int32_t>(t.row), host_array<std::int32_t>(t.col), t.val};
  const stats s = measure(assemble({4, 4}, as_cview(t.row), as_cview(t.col), as_cview(t.val)));
  for (const auto* format : formats()) {
    if (!format->lay_out(s, precision::f64, {}).refusal.empty()) continue;
    kit::expect_refusal(fault::input, "furrow::assemble",
                        [&] { make<double>(choose(s, precision::f64, {}, {format->name}), {}, a); });
  }
}

} // namespace
} // namespace furrow
