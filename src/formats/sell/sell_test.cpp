// SPDX-License-Identifier: BSD-3-Clause
#include "contract.hpp"
#include "convert.hpp"
#include "cpu_slices.hpp"
#include "sharing.hpp"

#include "core/measure.hpp"
#include "kit/guarded.hpp"
#include "kit/lane_check.hpp"
#include "kit/said_by.hpp"
#include "kit/triplets_check.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/storage.hpp>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace furrow {

/// Lets the kit play lanes row by row.
template <class V, int Height> struct sell_by_rows {
  sell<V, cview> a;
  cview<std::int32_t> position;
};
template <class V, int Height> V partial(lanes lane, const sell_by_rows<V, Height>& m, index_t row, cview<V> x) {
  return partial<Height>(lane, m.a, m.position[row], x);
}

namespace {

constexpr slicing shapes[] = {{32, 1}, {32, 0}, {4, 256}, {8, 64}, {256, 1024}, {16, 16}};

template <class V> struct sell_of : testing::Test {};
using values = testing::Types<double, float>;
TYPED_TEST_SUITE(sell_of, values);

TYPED_TEST(sell_of, keeps_its_contract_and_comes_back_bit_by_bit) {
  for (const auto& m : kit::whole_battery())
    for (const slicing how : shapes) {
      SCOPED_TRACE(m.name + ", height " + std::to_string(how.height) + ", window " + std::to_string(how.window));
      const auto a = kit::as_precision<TypeParam>(m.a);
      if (double(places_of(measure(m.a).row_length, {how.height, 1})) > 3e7) continue;
      const auto made = to_sell(a, how);
      EXPECT_EQ(violation(made), "");
      kit::expect_same(to_coo(made), a);
    }
}

template <int Height, class V> void play_lanes(const sell<V, host_array>& made, const coo<V>& a) {
  host_array<std::int32_t> position(a.shape.rows);
  for (index_t p = 0; p < a.shape.rows; ++p) position[row_at(made, p)] = static_cast<std::int32_t>(p);
  kit::check_lanes(sell_by_rows<V, Height>{view_of(made), as_cview(position)}, a);
}

TYPED_TEST(sell_of, adds_up_rows_with_every_number_of_lanes) {
  for (const auto& m : kit::battery()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<TypeParam>(m.a);
    play_lanes<0>(to_sell(a, slicing{8, 64}), a);
    play_lanes<32>(to_sell(a, slicing{32, 1}), a);
    play_lanes<32>(to_sell(a, slicing{32, 256}), a);
  }
}

/// A matrix whose padding stands beside infinities of x: none may get into a sum.
TYPED_TEST(sell_of, padding_does_not_read_x) {
  const auto a = kit::as_precision<TypeParam>(kit::assemble({40, 4}, {{0, 1, 1}, {0, 2, 1}, {1, 1, 1}, {39, 2, 5}}));
  host_array<TypeParam> x(4, std::numeric_limits<TypeParam>::infinity());
  x[1] = 2;
  x[2] = 3;
  for (const slicing how : shapes) {
    const auto made = to_sell(a, how);
    const auto view = view_of(made);
    host_array<TypeParam> out(how.height);
    for (index_t s = 0; s + 1 < made.slice_ptr.size(); ++s) {
      sell_slices::vectors::sums(view, s, as_cview(x), out.data());
      for (const TypeParam v : out) EXPECT_TRUE(std::isfinite(v));
    }
    for (index_t p = 0; p < 40; ++p) EXPECT_TRUE(std::isfinite(partial(lanes{0, 1}, view, p, as_cview(x))));
  }
}

TEST(sell, places_are_what_the_conversion_makes) {
  for (const auto& m : kit::whole_battery())
    for (const slicing how : shapes) {
      if (how.window == 0) continue;
      const auto length = measure(m.a).row_length;
      const auto order = sorted_rows(length, how);
      const auto slice_ptr = offsets_of_slices(length, order, how.height);
      EXPECT_EQ(places_of(length, how), slice_ptr[slice_ptr.size() - 1]) << m.name;
    }
}

TEST(sell, rows_are_sorted_inside_windows_only_and_keep_their_order_where_equal) {
  const host_array<std::int32_t> length{1, 2, 2, 5, 0, 3, 3, 1, 9};
  const auto order = sorted_rows(length, {4, 4});
  const std::vector<std::int32_t> expected{3, 1, 2, 0, 5, 6, 7, 4, 8};
  EXPECT_EQ(std::vector<std::int32_t>(order.begin(), order.end()), expected);
  EXPECT_TRUE(sorted_rows(length, {4, 1}).empty());
}

/// Lengths that are counted and others that are sorted, in windows that are not whole.
TEST(sell, rows_of_any_length_are_sorted_and_their_places_counted) {
  const auto numbers = kit::random_vector<double>(40'000, 3);
  for (const std::int32_t longest : {2, 20, 255, 256, 3000}) {
    host_array<std::int32_t> length(numbers.size());
    for (index_t r = 0; r < length.size(); ++r)
      length[r] = static_cast<std::int32_t>(std::pow(std::abs(numbers[r]), 4) * longest);
    const auto places = places_of_windows(length, 0, 32);
    for (std::size_t k = 0; k < sorting_windows.size(); ++k) {
      const slicing how{32, sorting_windows[k]};
      const auto order = sorted_rows(length, how);
      const auto slice_ptr = offsets_of_slices(length, order, how.height);
      EXPECT_EQ(places[k], slice_ptr[slice_ptr.size() - 1]) << longest << ", " << how.window;
      EXPECT_EQ(places[k], places_of(length, how)) << longest << ", " << how.window;
      for (index_t p = 1; p < order.size(); ++p) {
        if (p % how.window == 0) continue;
        const auto before = std::pair(-length[order[p - 1]], order[p - 1]),
                   here = std::pair(-length[order[p]], order[p]);
        ASSERT_LT(before, here) << longest << ", " << how.window << ", position " << p;
      }
    }
  }
}

TEST(sell, a_window_is_taken_where_it_saves_bytes_and_no_larger_than_it_helps) {
  host_array<std::int32_t> even(5000, 7), pairs(100000), rare(100000, 3);
  EXPECT_EQ(best_slicing(even, 32, 12), (slicing{32, 1}));
  for (index_t r = 0; r < pairs.size(); ++r) pairs[r] = r % 2 ? 20 : 2;
  EXPECT_EQ(best_slicing(pairs, 32, 12).window, 256); // a larger one saves nothing more
  for (index_t r = 0; r < rare.size(); r += 500) rare[r] = 300;
  EXPECT_GT(best_slicing(rare, 32, 12).window, 4096);
  EXPECT_EQ(best_slicing(host_array<std::int32_t>{}, 32, 12), (slicing{32, 1}));
}

TEST(sell, threads_share_a_window_only_where_that_saves_more_than_lines_of_y_cost) {
  const auto window_of = [](index_t rows) {
    host_array<std::int32_t> length(rows);
    for (index_t r = 0; r < rows; ++r) length[r] = r % 100 == 0 ? 24 : r % 2 ? 20 : 2;
    return best_slicing(length, 32, 12).window;
  };
  EXPECT_EQ(window_of(100000), 4096); // a smaller one would take more than 2 % more bytes
  EXPECT_EQ(window_of(4000), 256);    // and here all threads would write to rows of one of 4,096
  EXPECT_EQ(window_of(1000), 1024);   // work for one thread
}

TEST(sell, statistics_settle_the_window_that_a_conversion_takes) {
  for (const auto& m : kit::whole_battery())
    for (const std::string_view asked : {"", "32:256", "8"}) {
      const std::string settled = find_format("sell").settle(measure(m.a), precision::f64, asked);
      const auto wanted = to_sell(m.a, asked), made = to_sell(m.a, settled);
      EXPECT_TRUE(kit::same_bits(as_cview(made.row), as_cview(wanted.row))) << m.name << ", " << settled;
      EXPECT_TRUE(kit::same_bits(as_cview(made.col), as_cview(wanted.col))) << m.name << ", " << settled;
    }
  EXPECT_EQ(find_format("sell").settle(measure_sums(kit::laplacian(40)), precision::f64, ""), ""); // nobody counted
}

TEST(sell, parameters_are_powers_of_two) {
  EXPECT_EQ(sell_format::read_parameters(""), (slicing{32, 0}));
  EXPECT_EQ(sell_format::read_parameters("8"), (slicing{8, 0}));
  EXPECT_EQ(sell_format::read_parameters("8:1"), (slicing{8, 1}));
  EXPECT_EQ(sell_format::read_parameters("4:256"), (slicing{4, 256}));
  for (const char* wrong : {"2", "12", "512", "32:16", "32:96", "x", "8:64:1", "8:0"}) {
    EXPECT_NE(kit::said_by(fault::usage, [&] { sell_format::read_parameters(wrong); }), "") << wrong;
  }
}

TEST(sell, what_is_mostly_padding_is_refused_with_its_fill) {
  stats s;
  s.shape = {100000, 100000};
  s.row_length = host_array<std::int32_t>(100000, 1);
  for (index_t r = 0; r < 100000; r += 32) s.row_length[r] = 1000;
  s.nnz = std::accumulate(s.row_length.begin(), s.row_length.end(), index_t(0));
  measure_lengths(s);
  const auto plain = plan_slices(s, "sell", 32, 1, 12);
  EXPECT_NE(plain.refusal.find("31 places"), std::string::npos) << plain.refusal;
  EXPECT_EQ(plan_slices(s, "sell", 32, 0, 12).refusal, ""); // sorting mends it
}

TEST(sell, a_matrix_known_by_its_sizes_counts_as_even) {
  stats s;
  s.shape = {6400, 6400};
  s.nnz = 64000;
  s.row_mean = 10;
  const auto plan = plan_slices(s, "sell", 32, 0, 12);
  EXPECT_EQ(plan.places, 64000);
  EXPECT_EQ(plan.how.window, 1);
}

TEST(sell, threads_share_rows_where_rows_alone_do_not_fill_the_device) {
  constexpr index_t room = 132 * 1024;
  EXPECT_EQ(threads_a_row(8'000'000, 7, 7, room), 1);
  EXPECT_EQ(threads_a_row(100'000, 7, 7, room), 1); // too short to be shared
  EXPECT_EQ(threads_a_row(200'000, 27, 30, room), 2);
  EXPECT_EQ(threads_a_row(20'000, 100, 100, room), 8);
  EXPECT_EQ(threads_a_row(1'000'000, 5, 5000, room), 8); // one slice would keep all others waiting
  EXPECT_EQ(threads_a_row(0, 0, 0, room), 1);
}

TEST(sell, every_broken_promise_is_found) {
  using matrix = sell<double, host_array>;
  const auto a = kit::assemble({6, 5}, {{0, 0, 1}, {0, 3, 2}, {1, 4, 3}, {2, 1, 4}, {2, 2, 5}, {5, 0, 6}});
  const matrix good = to_sell(a, slicing{4, 4});
  ASSERT_EQ(violation(good), "");
  ASSERT_EQ(good.val.size(), 12);
  const auto broken = kit::violation_after(good);
  EXPECT_NE(broken([](matrix& m) { m.height = 6; }), "");
  EXPECT_NE(broken([](matrix& m) { m.shape.rows = 12; }), "");
  EXPECT_NE(broken([](matrix& m) { m.slice_ptr[0] = 4; }), "");
  EXPECT_NE(broken([](matrix& m) { m.slice_ptr[1] = 7; }), "");
  EXPECT_NE(broken([](matrix& m) { m.slice_ptr[2] = 4000; }), "");
  EXPECT_NE(broken([](matrix& m) { m.col.resize(11); }), "");
  EXPECT_NE(broken([](matrix& m) { m.row[0] = m.row[1]; }), "");
  EXPECT_NE(broken([](matrix& m) { m.row[0] = 6; }), "");
  EXPECT_NE(broken([](matrix& m) { m.row.resize(5); }), "");
  EXPECT_NE(broken([](matrix& m) { m.col[0] = 5; }), "");
  EXPECT_NE(broken([](matrix& m) { m.col[0] = -2; }), "");
  EXPECT_NE(broken([](matrix& m) { m.col[4] = m.col[0]; }), "");
  EXPECT_NE(broken([](matrix& m) { m.col[0] = -1; }), ""); // an entry behind padding
  EXPECT_NE(broken([](matrix& m) { m.val[11] = 1; }), ""); // padding with a value
  EXPECT_NE(broken([](matrix& m) { m.val[11] = -0.0; }), "");
  EXPECT_NE(broken([](matrix& m) { m.col[8] = -1; }), ""); // wider than its longest row
}

TEST(sell, the_same_for_every_number_of_threads) {
  const auto m = kit::large_battery().back();
  set_threads(1);
  const auto one = to_sell(m.a, slicing{32, 1024});
  set_threads(3);
  const auto three = to_sell(m.a, slicing{32, 1024});
  set_threads(0);
  EXPECT_TRUE(kit::same_bits(as_cview(one.slice_ptr), as_cview(three.slice_ptr)));
  EXPECT_TRUE(kit::same_bits(as_cview(one.row), as_cview(three.row)));
  EXPECT_TRUE(kit::same_bits(as_cview(one.col), as_cview(three.col)));
  EXPECT_TRUE(kit::same_bits(as_cview(one.val), as_cview(three.val)));
}

} // namespace
} // namespace furrow
