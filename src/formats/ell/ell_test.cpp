// SPDX-License-Identifier: BSD-3-Clause
#include "contract.hpp"
#include "convert.hpp"
#include "cpu_rows.hpp"

#include "kit/cut_check.hpp"
#include "kit/lane_check.hpp"
#include "kit/tile_check.hpp"
#include "kit/triplets_check.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/formats.hpp>
#include <furrow/storage.hpp>

#include <limits>

namespace furrow {
namespace {

template <class V> struct ell_of : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(ell_of, precisions);

TYPED_TEST(ell_of, keeps_its_contract_and_comes_back_bit_by_bit) {
  auto matrices = kit::battery();
  matrices.push_back(kit::large_battery().front());
  for (const auto& m : matrices) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<TypeParam>(m.a);
    const auto made = to_ell(a);
    EXPECT_EQ(violation(made), "");
    EXPECT_EQ(made.shape, a.shape);
    EXPECT_EQ(made.width, measure(a).row_max);
    kit::expect_same(to_coo(made), a);
  }
}

TYPED_TEST(ell_of, adds_up_rows_with_every_number_of_lanes_and_every_tile) {
  for (const auto& m : kit::battery()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<TypeParam>(m.a);
    const auto made = to_ell(a);
    kit::check_lanes(view_of(made), a);
    kit::check_tiles(view_of(made), a);
  }
}

TYPED_TEST(ell_of, rows_have_the_same_bits_however_they_are_cut) {
  for (const auto& m : kit::battery()) {
    SCOPED_TRACE(m.name);
    const auto made = to_ell(kit::as_precision<TypeParam>(m.a));
    const auto a = view_of(made);
    const auto x = kit::random_vector<TypeParam>(a.shape.cols, 7);
    host_array<TypeParam> direct(a.shape.rows), gathered(a.shape.rows);
    kit::check_cuts<TypeParam>(a.shape.rows, [&](index_t first, index_t last, TypeParam* out) {
      ell_rows::direct::sums(a, first, last, as_cview(x), out);
    });
    kit::check_cuts<TypeParam>(a.shape.rows, [&](index_t first, index_t last, TypeParam* out) {
      ell_rows::gathered::sums(a, first, last, as_cview(x), out);
    });
    ell_rows::direct::sums(a, 0, a.shape.rows, as_cview(x), direct.data());
    ell_rows::gathered::sums(a, 0, a.shape.rows, as_cview(x), gathered.data());
    EXPECT_TRUE(kit::same_bits(as_cview(direct), as_cview(gathered)));
  }
}

TYPED_TEST(ell_of, padding_reads_no_x) {
  using V = TypeParam;
  // Rows of 1 to 9 entries, none of them in column 0, where the only thing that is not finite waits.
  const auto m = kit::from_function(200, [](index_t i, index_t j) {
    return j > 0 && j % 10 > 0 && j < 10 && j % 10 <= 1 + i % 9 ? 1.0 + double(i) : 0.0;
  });
  const auto a = kit::as_precision<V>(m);
  for (const std::string_view kernel : {"rows", "gathered", "scalar"}) {
    const auto op = find_format("ell").cpu.make<V>()(a, {}, kernel);
    host_array<V> x(200, V(1)), y(200);
    x[0] = std::numeric_limits<V>::quiet_NaN();
    op->apply(1, as_cview(x), 0, as_view(y));
    for (index_t i = 0; i < 200; ++i) EXPECT_EQ(y[i], V((1 + i % 9) * (1 + i))) << kernel << ", row " << i;
  }
}

TEST(ell, does_not_depend_on_the_number_of_threads) {
  const auto a = kit::large_battery().front().a;
  set_threads(1);
  const auto one = to_ell(a);
  set_threads(3);
  const auto three = to_ell(a);
  const auto back = to_coo(three);
  set_threads(0);
  EXPECT_TRUE(kit::same_bits(as_cview(one.col), as_cview(three.col)));
  EXPECT_TRUE(kit::same_bits(as_cview(one.val), as_cview(three.val)));
  EXPECT_TRUE(kit::same_bits(as_cview(back.val), as_cview(a.val)));
}

TEST(ell, every_broken_promise_is_found) {
  using matrix = ell<double, host_array>;
  const matrix good = to_ell(kit::laplacian(20)); // rows of 2 and 3 entries, stride 32
  ASSERT_EQ(violation(good), "");
  const auto broken = kit::violation_after(good);
  EXPECT_NE(broken([](matrix& a) { a.shape.rows = 40; }), "");
  EXPECT_NE(broken([](matrix& a) { a.shape.cols = 19; }), "");
  EXPECT_NE(broken([](matrix& a) { a.width = 2; }), "");
  EXPECT_NE(broken([](matrix& a) { a.width = -1; }), "");
  EXPECT_NE(broken([](matrix& a) { a.stride = 20; }), "");
  EXPECT_NE(broken([](matrix& a) { a.val.resize(3); }), "");
  EXPECT_NE(broken([](matrix& a) { a.col[3] = 20; }), "");
  EXPECT_NE(broken([](matrix& a) { a.col[3] = -2; }), "");
  EXPECT_NE(broken([](matrix& a) { a.col[3] = -1; }), "");            // an entry behind padding
  EXPECT_NE(broken([](matrix& a) { a.col[32 + 3] = a.col[3]; }), ""); // the same column twice
  EXPECT_NE(broken([](matrix& a) { a.col[20] = 0; }), "");            // a row behind the last
  EXPECT_NE(broken([](matrix& a) { a.val[2 * 32] = 1; }), "");        // row 0 has two entries
}

TEST(ell, refuses_what_it_would_mostly_pad) {
  const auto s = measure(kit::from_function(30, [](index_t i, index_t j) { return i == 4 || i == j ? 1.0 : 0.0; }));
  const format_entry& f = find_format("ell");
  const std::string why = f.lay_out(s, precision::f64, {}).refusal; // 59 entries, one row of 30
  EXPECT_NE(why.find("30 rows to the longest, of 30 entries, 15.3 places an entry"), std::string::npos) << why;
  EXPECT_NE(why.find("ell:16"), std::string::npos) << why;
  EXPECT_NE(f.lay_out(s, precision::f64, "15").refusal, "");
  EXPECT_EQ(f.lay_out(s, precision::f64, "16").refusal, "");
  EXPECT_EQ(f.lay_out(measure(kit::laplacian(40, 30)), precision::f64, {}).refusal, "");
  EXPECT_THROW(f.lay_out(s, precision::f64, "x"), error);
}

TEST(ell, assumes_the_mean_length_where_only_the_sizes_are_known) {
  stats s;
  s.shape = {1000, 1000};
  s.nnz = 6500;
  const layout l = find_format("ell").lay_out(s, precision::f32, {});
  EXPECT_FALSE(l.exact);
  EXPECT_EQ(l.bytes, 7 * 1008 * 8);
}

} // namespace
} // namespace furrow
