// SPDX-License-Identifier: BSD-3-Clause
#include "colouring.hpp"

#include "kit/matrices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace furrow {
namespace {

adjacency graph(const coo<double>& a) { return neighbours_of(rows_of_triplets<double>(a).view()); }

TEST(colouring, gives_neighbours_different_colours_and_few_of_them) {
  for (const auto& [name, a] : kit::whole_battery()) {
    if (a.shape.rows != a.shape.cols) continue;
    const adjacency g = graph(a);
    const colouring c = colour_greedily(g);
    index_t degree = 0, highest = -1;
    for (index_t i = 0; i < a.shape.rows; ++i) {
      degree = std::max(degree, g.degree(i));
      highest = std::max(highest, index_t(c.colour[i]));
      for (index_t k = g.row_ptr[i]; k < g.row_ptr[i + 1]; ++k)
        ASSERT_NE(c.colour[i], c.colour[g.col[k]]) << name << ' ' << i;
    }
    EXPECT_EQ(c.colours, highest + 1) << name;
    EXPECT_LE(c.colours, degree + 1) << name;
    const auto order = order_by_colours(c);
    EXPECT_EQ(std::set<std::int32_t>(order.begin(), order.end()).size(), std::size_t(a.shape.rows)) << name;
    EXPECT_TRUE(std::ranges::is_sorted(order, {}, [&](std::int32_t i) { return std::pair(c.colour[i], i); })) << name;
  }
}

TEST(colouring, takes_two_colours_for_a_grid) {
  EXPECT_EQ(colour_greedily(graph(kit::laplacian(13, 8))).colours, 2);
  EXPECT_EQ(colour_greedily(graph(kit::laplacian(5, 6, 7))).colours, 2);
  EXPECT_EQ(colour_greedily(graph(kit::diagonal({1, 2, 3}))).colours, 1);
}

} // namespace
} // namespace furrow
