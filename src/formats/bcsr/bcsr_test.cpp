// SPDX-License-Identifier: BSD-3-Clause
#include "block_lanes.hpp"
#include "block_size.hpp"
#include "contract.hpp"
#include "convert.hpp"

#include "core/measure.hpp"
#include "kit/lane_check.hpp"
#include "kit/operator_check.hpp"
#include "kit/said_by.hpp"
#include "kit/triplets_check.hpp"
#include "kit/without_zeros.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/generate.hpp>
#include <furrow/storage.hpp>

#include <string>

namespace furrow {
namespace {

template <class V> struct bcsr_of : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(bcsr_of, precisions);

TYPED_TEST(bcsr_of, keeps_its_contract_and_comes_back_without_zeros) {
  for (const auto& m : kit::whole_battery())
    for (index_t edge = 2; edge <= 8; ++edge) {
      SCOPED_TRACE(m.name + ", blocks of " + std::to_string(edge));
      const auto a = kit::as_precision<TypeParam>(m.a);
      const auto made = to_bcsr<std::int64_t>(a, edge);
      EXPECT_EQ(violation(made), "");
      EXPECT_EQ(made.shape, a.shape);
      kit::expect_same(to_coo(made), kit::without_zeros(a));
    }
}

/// What the kernel of the GPU does: W lanes a block row, K sums a lane, halves folded onto each other.
template <int K, class V, class I> void check_block_lanes(const bcsr<V, I, host_array>& m, const coo<V>& a) {
  const auto x = kit::random_vector<V>(a.shape.cols, 106);
  const auto expected = kit::reference_product(a, V(1), as_cview(x), V(0), {});
  const auto view = view_of(m);
  for (const int width : {8, 16, 32, 64}) {
    host_array<V> y(a.shape.rows);
    for (index_t r = 0; r < blocks_over(a.shape.rows, K); ++r) {
      std::array<std::array<V, 64>, K> share{};
      for (int rank = 0; rank < width; ++rank) {
        V sum[K];
        block_row_share<K, 2>(lanes{rank, width}, view, r, as_cview(x), sum,
                              [](const V* from, V* to) { std::copy_n(from, K, to); });
        for (int i = 0; i < K; ++i) share[i][rank] = sum[i];
      }
      for (int i = 0; i < K && r * K + i < a.shape.rows; ++i) y[r * K + i] = kit::tree_sum(share[i], width);
    }
    EXPECT_LE(kit::row_error(expected, as_cview(y)), 1) << width << " lanes, blocks of " << K;
  }
}

TYPED_TEST(bcsr_of, adds_up_block_rows_with_every_number_of_lanes) {
  for (const auto& m : kit::battery()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<TypeParam>(m.a);
    for (index_t edge = 2; edge <= 8; ++edge)
      with_edge(edge, [&](auto k) { check_block_lanes<k>(to_bcsr<std::int32_t, k>(a), a); });
  }
}

/// Also of matrices that the format would refuse. Of large ones, whose other promises every_format checks: products
/// alone.
TYPED_TEST(bcsr_of, multiplies_with_blocks_of_every_size) {
  using V = TypeParam;
  for (const auto& m : kit::whole_battery()) {
    const auto a = kit::as_precision<V>(m.a);
    const kit::judged<V> judge(a);
    for (const char* edge : {"", "2", "3", "4", "5", "6", "7", "8"}) {
      SCOPED_TRACE(m.name + ", blocks of " + edge);
      const auto make = [&](coo<V> own) {
        return find_format("bcsr").cpu.template make<V>()(std::move(own), edge, "auto");
      };
      if (a.nnz() < 50000) {
        kit::check_operator<V, kit::host_side>(make, judge, 3);
        continue;
      }
      const auto op = make(a);
      for (const V beta : {V(0), V(1)}) kit::check_apply<V, kit::host_side>(*op, judge, V(1), beta);
      kit::check_repeatable<V, kit::host_side>(*op, judge, 3);
    }
  }
}

TEST(bcsr, every_broken_promise_is_found) {
  using matrix = bcsr<double, std::int32_t, host_array>;
  // 3 x 3 in blocks of 2: the last block row and column stick out.
  const matrix good{{3, 3}, 2, {0, 2, 3}, {0, 1, 1}, {1, 2, 3, 4, 5, 6, 0, 0, 7, 0, 0, 0}};
  ASSERT_EQ(violation(good), "");
  const auto broken = kit::violation_after(good);
  EXPECT_NE(broken([](matrix& a) { a.edge = 3; }), "");
  EXPECT_NE(broken([](matrix& a) { a.edge = 9; }), "");
  EXPECT_NE(broken([](matrix& a) { a.shape.rows = 5; }), "");
  EXPECT_NE(broken([](matrix& a) { a.block_ptr[0] = 1; }), "");
  EXPECT_NE(broken([](matrix& a) { a.block_ptr[1] = 1000000; }), "");
  EXPECT_NE(broken([](matrix& a) { a.block_ptr[2] = 2; }), "");
  EXPECT_NE(broken([](matrix& a) { a.block.resize(2); }), "");
  EXPECT_NE(broken([](matrix& a) { a.block[1] = 0; }), "");
  EXPECT_NE(broken([](matrix& a) { a.block[1] = 2; }), "");
  EXPECT_NE(broken([](matrix& a) { a.block[0] = -1; }), "");
  EXPECT_NE(broken([](matrix& a) { a.val[6] = 1; }), "") << "a value right of the matrix";
  EXPECT_NE(broken([](matrix& a) { a.val[9] = 1; }), "") << "a value below the matrix";
}

/// Full blocks of edge k on the diagonals 0 and 2, and a ragged end.
coo<double> blocky(index_t k, index_t n) {
  std::vector<kit::triplet> entries;
  for (index_t r = 0; r < n; ++r)
    for (index_t c = 0; c < n; ++c)
      if (r / k == c / k || r / k == c / k + 2) entries.push_back({r, c, double(1 + r + c)});
  return kit::assemble({n, n}, std::move(entries));
}

TEST(bcsr, takes_the_blocks_that_the_matrix_has) {
  for (index_t k = 2; k <= 8; ++k) {
    const auto a = blocky(k, 20 * k);
    EXPECT_EQ(bcsr_format::edge_for(a, ""), k);
    EXPECT_EQ(bcsr_format::edge_for(a, "5"), 5);
    const layout l = bcsr_format::lay_out(measure(a), precision::f64, "");
    EXPECT_EQ(l.refusal, "");
    EXPECT_TRUE(l.exact);
    EXPECT_LT(l.places, 1.1 * double(a.nnz()));
  }
}

TEST(bcsr, blocks_that_nobody_counted_are_made_where_they_are_asked_for) {
  const auto a = generate("elasticity3d:12").a;
  const stats s = measure(a);
  ASSERT_EQ(s.blocks[2], surpassed);
  const layout stated = find_format("bcsr").lay_out(s, precision::f64, "2");
  EXPECT_EQ(stated.refusal, "");
  EXPECT_FALSE(stated.exact);
  const auto made = make(choose(s, precision::f64, {}, {"bcsr:2"}), {}, a);
  EXPECT_LE(made->stored_bytes(), stated.bytes);
  EXPECT_LE(find_format("bcsr").lay_out(s, precision::f64, "").bytes, made->stored_bytes());
}

TEST(bcsr, statistics_settle_the_edge_that_a_conversion_takes) {
  for (const auto& m : kit::battery())
    for (const std::string_view asked : {"", "5"})
      EXPECT_EQ(bcsr_format::settle(measure(m.a), precision::f64, asked),
                m.a.nnz() ? std::to_string(bcsr_format::edge_for(m.a, asked)) : std::string(asked))
          << m.name;
  EXPECT_EQ(bcsr_format::settle(measure_sums(kit::laplacian(40)), precision::f64, ""), ""); // nobody counted
}

TEST(bcsr, refuses_blocks_that_are_mostly_padding_and_says_how_much) {
  const auto refusal = [](const coo<double>& a, const char* parameters) {
    return bcsr_format::lay_out(measure(a), precision::f64, parameters).refusal;
  };
  EXPECT_NE(refusal(kit::diagonal(std::vector<double>(100, 1.0)), ""), "");
  EXPECT_NE(refusal(kit::diagonal(std::vector<double>(100, 1.0)), "4").find("4 x 4"), std::string::npos);
  const auto two = refusal(kit::laplacian(100, 100), "2"); // five entries of each row in six blocks for two rows
  EXPECT_NE(two.find("2 x 2"), std::string::npos) << two;
  EXPECT_EQ(refusal(blocky(4, 80), "2"), "");
  EXPECT_NE(refusal(blocky(2, 80), "7"), "");
}

TEST(bcsr, states_an_estimate_where_only_the_sizes_are_known) {
  stats s;
  s.shape = {1000, 1000};
  s.nnz = 27000;
  const layout l = bcsr_format::lay_out(s, precision::f64, "3");
  EXPECT_EQ(l.refusal, "");
  EXPECT_FALSE(l.exact);
  EXPECT_GT(l.bytes, 8.0 * 27000);
  EXPECT_LT(l.bytes, 16.0 * 27000);
}

TEST(bcsr, parameters_out_of_range_are_refused_with_the_usage) {
  for (const char* bad : {"1", "9", "x", "2:3"}) {
    kit::expect_refusal(fault::usage, "bcsr[:K]", [&] { bcsr_format::asked_edge(bad); });
  }
}

TEST(bcsr, loads_of_a_column_are_as_wide_as_its_address_allows) {
  EXPECT_EQ((column_load<double, 2>()), 16);
  EXPECT_EQ((column_load<double, 3>()), 8);
  EXPECT_EQ((column_load<double, 6>()), 16);
  EXPECT_EQ((column_load<float, 2>()), 8);
  EXPECT_EQ((column_load<float, 5>()), 4);
  EXPECT_EQ((column_load<float, 8>()), 16);
}

TEST(bcsr, lanes_follow_the_length_of_block_rows) {
  EXPECT_EQ(block_lanes(0, 8, 32), 8);
  EXPECT_EQ(block_lanes(3, 3, 32), 8);
  EXPECT_EQ(block_lanes(27, 3, 32), 32);
  EXPECT_EQ(block_lanes(1e6, 2, 32), 32);
}

TEST(bcsr, elements_of_x_behind_the_last_column_are_not_read) {
  // 1 x 3 in blocks of 2 with x at the end of its memory: the address sanitizer would see a fourth element.
  const kit::named_matrix m{"1 x 3", kit::assemble({1, 3}, {{0, 0, 1}, {0, 1, 2}, {0, 2, 3}})};
  const auto made = find_format("bcsr").cpu.f64(m.a, "2", "auto");
  std::vector<double> x{1, 1, 1}, y(1);
  made->apply(1, cview<double>(x.data(), 3), 0, view<double>(y.data(), 1));
  EXPECT_EQ(y[0], 6);
}

} // namespace
} // namespace furrow
