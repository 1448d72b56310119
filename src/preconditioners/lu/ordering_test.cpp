// SPDX-License-Identifier: BSD-3-Clause
#include "cholesky.hpp"
#include "cholesky_pattern.hpp"
#include "fill.hpp"
#include "order_choice.hpp"

#include "kit/matrices.hpp"
#include "kit/refused_by.hpp"
#include "kit/said_by.hpp"
#include "preconditioners/entry.hpp"
#include "preconditioners/stop.hpp"

#include <furrow/device.hpp>
#include <furrow/generate.hpp>

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace furrow {
namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

lu::columns columns_of(const char* spec) { return std::move(lu::scale_and_sort(generate(spec).a).a); }

/// Each point of a grid has so many unknowns, all of which couple where points do.
coo<double> with_unknowns(index_t side, index_t each, bool symmetric_pattern = true) {
  const coo<double> grid = kit::laplacian(side, side);
  std::vector<std::vector<double>> of(std::size_t(grid.shape.rows), std::vector<double>(std::size_t(grid.shape.rows)));
  for (index_t k = 0; k < grid.nnz(); ++k) of[std::size_t(grid.row[k])][std::size_t(grid.col[k])] = grid.val[k];
  return kit::from_function(each * grid.shape.rows, [&](index_t i, index_t j) {
    const double v = of[std::size_t(i / each)][std::size_t(j / each)];
    return v == 0 || (!symmetric_pattern && i > j && i / each != j / each) ? 0.0 : i == j ? 40.0 : -1.0;
  });
}

void expect_permutation(const host_array<std::int32_t>& place) {
  std::vector<char> taken(std::size_t(place.size()), 0);
  for (const std::int32_t p : place) {
    ASSERT_GE(p, 0);
    ASSERT_LT(p, place.size());
    ASSERT_EQ(taken[std::size_t(p)]++, 0);
  }
}

bool operator==(const host_array<std::int32_t>& a, const host_array<std::int32_t>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

TEST(column_graph, brings_columns_that_are_alike_together) {
  for (const bool symmetric : {true, false}) {
    const lu::columns a = std::move(lu::scale_and_sort(with_unknowns(6, 3, symmetric)).a);
    ASSERT_EQ(a.symmetric_pattern, symmetric);
    const lu::column_graph g = lu::graph_of(a);
    ASSERT_EQ(g.blocks(), 36);
    EXPECT_TRUE(g.is_smaller());
    EXPECT_EQ(g.neighbours.size(), 4u * 6 * 5); // two entries for each edge of the grid
    EXPECT_EQ(g.weights, std::vector<std::int32_t>(36, 3));
    const lu::columns grid = g.as_columns();
    EXPECT_EQ(grid.nnz(), 36 + 120);
    host_array<std::int32_t> backwards(36);
    for (index_t b = 0; b < 36; ++b) backwards[b] = static_cast<std::int32_t>(35 - b);
    const auto place = g.places(backwards);
    expect_permutation(place);
    for (index_t j = 0; j < 108; ++j) EXPECT_EQ(place[j] / 3, 35 - j / 3);
  }
  const lu::column_graph grid = lu::graph_of(columns_of("poisson2d:9"));
  EXPECT_EQ(grid.blocks(), 81);
  EXPECT_FALSE(grid.is_smaller());
}

#if FURROW_HAS_SUPERLU

double squares_of(const lu::columns& a, const host_array<std::int32_t>& place) {
  return lu::pattern_of_factor(a, place).operations;
}

TEST(minimum_degree, ends_where_its_nodes_show_too_many_operations) {
  for (const char* spec : {"poisson3d:9", "poisson2d:40", "elasticity3d:5", "random:1500:8", "powerlaw:1500:6:2.2"}) {
    lu::columns a = columns_of(spec);
    a = lu::graph_of(a).as_columns(); // of a symmetric pattern
    const auto place = lu::minimum_degree(a, 1e9);
    const double squares = squares_of(a, place);
    EXPECT_TRUE(lu::minimum_degree(a, 1e9, {squares}) == place) << spec << ": what it adds up is a bound";
    EXPECT_THROW(lu::minimum_degree(a, 1e9, {squares / 20}), lu::order_fills_in) << spec;
  }
}

TEST(order_by_degree, of_blocks_leaves_about_the_entries_of_columns) {
  const lu::columns a = std::move(lu::scale_and_sort(with_unknowns(16, 3)).a);
  const auto place = lu::order_by_degree(a, lu::graph_of(a), 1e9);
  expect_permutation(place);
  EXPECT_LT(squares_of(a, place), 1.3 * squares_of(a, lu::minimum_degree(a, 1e9)));
}

class dissection : public testing::Test {
protected:
  void SetUp() override {
    if (!lu::has_dissection()) GTEST_SKIP() << "libmetis.so.5 is not installed";
  }
};

host_array<std::int32_t> dissected(const lu::columns& a) { return lu::nested_dissection(lu::graph_of(a), 1e9); }

TEST_F(dissection, leaves_fewer_operations_than_minimum_degree_in_space) {
  for (const char* spec : {"poisson3d:30", "elasticity3d:9"}) { // the first one by pieces
    const lu::columns a = columns_of(spec);
    const auto place = dissected(a);
    expect_permutation(place);
    EXPECT_LT(squares_of(a, place), 0.6 * squares_of(a, lu::minimum_degree(a, 1e9))) << spec;
  }
}

TEST_F(dissection, orders_graphs_of_any_kind) {
  const auto star =
      kit::from_function(300, [](index_t i, index_t j) { return i == j || i == 0 || j == 0 ? 1.0 : 0.0; });
  const auto full = kit::from_function(40, [](index_t, index_t) { return 1.0; });
  const auto none = kit::from_function(500, [](index_t i, index_t j) { return i == j ? 1.0 : 0.0; });
  for (const auto& a : {star, full, none, with_unknowns(7, 2, false)})
    expect_permutation(dissected(lu::scale_and_sort(a).a));
  const lu::columns large = columns_of("random:30000:1"); // falls apart into more than one piece
  expect_permutation(dissected(large));
}

TEST_F(dissection, is_the_same_each_time_and_leaves_no_trace) {
  const lu::columns a = columns_of("poisson3d:28"); // 21,952 columns: a separator and two pieces
  struct sigaction ours {
  }, before{}, after{};
  ours.sa_sigaction = [](int, siginfo_t*, void*) {};
  ours.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGTERM, &ours, &before);
  std::srand(7);
  const int expected = std::rand();
  const auto first = dissected(a);
  std::srand(7);
  const auto second = dissected(a);
  EXPECT_EQ(std::rand(), expected) << "numbers of others go on";
  EXPECT_TRUE(first == second);
  sigaction(SIGTERM, &before, &after);
  EXPECT_EQ(after.sa_sigaction, ours.sa_sigaction);
  EXPECT_EQ(after.sa_flags & (SA_SIGINFO | SA_RESTART), ours.sa_flags);
}

TEST_F(dissection, hears_who_asks_it_to_stop_between_pieces) {
  const lu::columns a = columns_of("poisson3d:30");
  int asked = 0;
  const stops_set_up stop([&]() -> std::optional<refusal> {
    if (++asked < 3) return {};
    return refusal{status::interrupted, "enough"};
  });
  kit::expect_refusal(status::interrupted, "enough", [&] { dissected(a); });
}

TEST_F(dissection, is_refused_where_its_memory_is_not_there) {
  const lu::columns a = columns_of("poisson2d:100");
  const lu::column_graph g = lu::graph_of(a);
  EXPECT_NE(kit::said_by(fault::memory, [&] { lu::nested_dissection(g, 1e6); }).find("take order=degree"),
            std::string::npos);
}

/// The operations of an order, counted in squares.
struct counted {
  double operations;
};
counted count(const lu::columns& a, lu::column_order& order, lu::order_rules rules) {
  return lu::count_best_order(a, order, rules, 1e9,
                              [&](const host_array<std::int32_t>& p) { return counted{squares_of(a, p)}; });
}

TEST(minimum_degree, of_a_matrix_that_fills_in_is_left_where_factors_are_limited) {
  const lu::columns a = columns_of("random:3000:20");
  int asked = 0;
  const stops_set_up stop([&]() -> std::optional<refusal> { return ++asked, std::nullopt; });
  const auto place = lu::minimum_degree(a, 1e9);
  const int all = std::exchange(asked, 0);
  EXPECT_THROW(lu::minimum_degree(a, 1e9, {.steps = 1e6}), lu::order_fills_in);
  EXPECT_LT(asked, all / 2);
  const lu::order_rules rules{.wish = lu::order_wish::degree, .operations = 1e15, .a_second = 1e9};
  lu::column_order order;
  kit::expect_refusal(status::max_iterations, "takes too long", [&] { count(a, order, rules); });
  auto to_the_end = rules;
  to_the_end.to_the_end = true;
  count(a, order, to_the_end);
  EXPECT_TRUE(order.place == place);
  const lu::columns body = columns_of("elasticity3d:9");
  count(body, order = {}, rules);
  EXPECT_EQ(order.place.size(), body.n);
  most_operations hurried;
  hurried.order_steps = 1;
  const bounds_operations bound(hurried);
  kit::expect_refusal(status::max_iterations, "takes too long", [&] { count(body, order = {}, rules); });
  count(columns_of("poisson2d:30"), order = {}, to_the_end);
}

TEST_F(dissection, is_taken_where_it_pays) {
  const lu::columns grid = columns_of("poisson2d:60"), body = columns_of("elasticity3d:14");
  lu::column_order order;
  count(grid, order, {.operations = no_limit, .a_second = 2e10});
  EXPECT_FALSE(order.dissected) << "a plane grid";
  order = {};
  const double best = count(body, order, {.operations = no_limit, .a_second = 2e10}).operations;
  EXPECT_TRUE(order.dissected);
  EXPECT_LT(best, 0.6 * squares_of(body, lu::minimum_degree(body, 1e9)));
  order = {};
  count(body, order, {.operations = no_limit, .a_second = 1e15});
  EXPECT_FALSE(order.dissected) << "factors take no time";
  count(body, order, {.operations = no_limit, .a_second = 3e9});
  EXPECT_TRUE(order.dissected) << "what is known is not enough for slower ones";
  order = {};
  count(body, order, {.wish = lu::order_wish::degree, .operations = no_limit, .a_second = 2e10});
  EXPECT_FALSE(order.dissected);
  order = {};
  count(grid, order, {.wish = lu::order_wish::dissection, .operations = no_limit, .a_second = 2e10});
  EXPECT_TRUE(order.dissected);
}

TEST_F(dissection, is_tried_where_it_may_bring_factors_below_a_limit) {
  const lu::columns body = columns_of("elasticity3d:14");
  lu::column_order order;
  const double by_degree = squares_of(body, lu::minimum_degree(body, 1e9));
  count(body, order, {.operations = by_degree / 2, .a_second = 1e9});
  EXPECT_TRUE(order.dissected);
  order = {};
  kit::expect_refusal(status::max_iterations, "operations",
                      [&] { count(body, order, {.operations = by_degree / 1000, .a_second = 1e9}); });
}

TEST_F(dissection, has_answers_of_the_same_bits_for_any_number_of_threads) {
  const coo<double> a = generate("elasticity3d:8").a;
  const index_t n = a.shape.rows;
  const int before = threads();
  for (const char* name : {"lu:cholesky:order=dissection", "lu:sparse:order=dissection"}) {
    std::vector<double> first;
    for (const int count : {1, 2, 3, 8}) {
      set_threads(count);
      host_array<double> b(n, 1.0), x(n);
      const auto m = make_preconditioner<double>(name, a, device{}, {});
      EXPECT_NE(m->describe().find("ordered by nested dissection"), std::string::npos);
      m->apply(as_cview(b), as_view(x));
      if (first.empty()) first.assign(x.begin(), x.end());
      EXPECT_TRUE(std::equal(x.begin(), x.end(), first.begin())) << name << ' ' << count;
    }
  }
  set_threads(before);
}

#endif

TEST(orders_by_name, are_told_what_would_do) {
  const coo<double> a = kit::laplacian(4, 4);
  const auto said = [&](const char* name) {
    return kit::said_by(fault::usage, [&] { make_preconditioner<double>(name, a, device{}, {}); });
  };
  EXPECT_NE(said("lu:order=best").find("there is no such order"), std::string::npos);
  EXPECT_NE(said("lu:band:order=degree").find("keep the order of the matrix"), std::string::npos);
}

TEST(orders_by_name, need_metis_for_dissection) {
  if (lu::has_dissection()) GTEST_SKIP() << "libmetis.so.5 is installed";
  const lu::column_graph g = lu::graph_of(columns_of("poisson2d:9"));
  EXPECT_NE(kit::said_by(fault::device, [&] { lu::nested_dissection(g, 1e9); }).find("install Debian's libmetis5"),
            std::string::npos);
}

} // namespace
} // namespace furrow
