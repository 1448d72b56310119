// SPDX-License-Identifier: BSD-3-Clause
#include "contract.hpp"
#include "convert.hpp"
#include "cpu_strips.hpp"

#include "kit/cut_check.hpp"
#include "kit/lane_check.hpp"
#include "kit/triplets_check.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/formats.hpp>
#include <furrow/generate.hpp>
#include <furrow/storage.hpp>

#include <limits>

namespace furrow {
namespace {

template <class V> struct hdia_of : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(hdia_of, precisions);

TYPED_TEST(hdia_of, keeps_its_contract_and_comes_back_bit_by_bit) {
  for (const auto& m : kit::whole_battery()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<TypeParam>(m.a);
    if (strip_fill_of(measure(m.a)).beside * double(m.a.nnz()) > 3e7) continue;
    const auto made = to_hdia(a);
    EXPECT_EQ(violation(made), "");
    kit::expect_same(to_coo(made), a);
  }
}

TYPED_TEST(hdia_of, an_entry_that_is_zero_lies_beside_the_strips) {
  using V = TypeParam;
  auto a = kit::as_precision<V>(kit::laplacian(40));
  const index_t k = 50;
  for (const V zero : {V(0), -V(0)}) {
    a.val[k] = zero;
    const auto made = to_hdia(a);
    EXPECT_EQ(violation(made), "");
    const auto back = to_coo(made);
    EXPECT_EQ(back.nnz(), a.nnz());
    EXPECT_TRUE(kit::same_bits(as_cview(back.val), as_cview(a.val)));
  }
}

TYPED_TEST(hdia_of, adds_up_rows_with_every_number_of_lanes) {
  for (const auto& m : kit::battery()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<TypeParam>(m.a);
    const auto made = to_hdia(a);
    kit::check_lanes(view_of(made), a);
  }
}

TYPED_TEST(hdia_of, rows_have_the_same_bits_however_they_are_cut) {
  for (const auto& m : kit::battery()) {
    SCOPED_TRACE(m.name);
    const auto made = to_hdia(kit::as_precision<TypeParam>(m.a));
    const auto a = view_of(made);
    const auto x = kit::random_vector<TypeParam>(a.shape.cols, 7);
    kit::check_cuts<TypeParam>(a.shape.rows, [&](index_t first, index_t last, TypeParam* out) {
      strip_rows::sums(a, first, last, as_cview(x), out);
    });
  }
}

TYPED_TEST(hdia_of, a_number_that_is_not_finite_never_hides_and_stays_on_the_strips) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(40, 30));
  const auto op = find_format("hdia").cpu.make<V>()(a, {}, "auto");
  for (const V bad : {std::numeric_limits<V>::infinity(), std::numeric_limits<V>::quiet_NaN()})
    for (const index_t at : {index_t(0), index_t(599), index_t(1199)}) {
      host_array<V> x(1200, V(1)), y(1200);
      x[at] = bad;
      op->apply(1, as_cview(x), 0, as_view(y));
      for (index_t row = 0; row < 1200; ++row) {
        const index_t away = std::abs(row - at), line = row / 40 == at / 40 ? 1 : 0;
        if (away == 0 || away == 40 || (away == 1 && line)) {
          EXPECT_FALSE(std::isfinite(y[row])) << "row " << row;
        } else if (away != 1) {
          EXPECT_TRUE(std::isfinite(y[row])) << "row " << row;
        }
      }
    }
}

/// Elements of x before and behind the matrix must not be read, whatever stands there.
TYPED_TEST(hdia_of, reads_no_x_outside_of_the_matrix) {
  using V = TypeParam;
  const auto m = kit::as_precision<V>(kit::from_function(
      50, [](index_t i, index_t j) { return j == i - 3 || j == i + 5 || j == i ? 1.0 + double(i) : 0.0; }));
  const auto made = to_hdia(m);
  ASSERT_GT(made.offset.size(), 0);
  const auto a = view_of(made);
  host_array<V> around(50 + 64, std::numeric_limits<V>::quiet_NaN()), y(50);
  std::fill(around.begin() + 32, around.begin() + 82, V(1));
  const cview<V> x{around.data() + 32, 50};
  strip_rows::sums(a, 0, 50, x, y.data());
  for (index_t row = 0; row < 50; ++row) {
    const V expected = V((1 + row) * (1 + (row >= 3) + (row + 5 < 50)));
    EXPECT_EQ(y[row], expected) << row;
    EXPECT_EQ(partial(lanes{}, a, row, x), expected) << row;
  }
}

TEST(hdia, of_a_grid_holds_all_entries_in_strips) {
  const auto made = to_hdia(generate("stencil3d27:20").a);
  EXPECT_LT(double(made.rest.val.size()), 0.01 * double(made.val.size()));
  EXPECT_LT(double(made.val.size()), 1.5 * 195112);
}

/// More entries and more diagonals in a slice than there is room for at first.
TEST(hdia, of_rows_with_little_in_common_is_complete) {
  const auto a = kit::from_function(
      500, [](index_t i, index_t j) { return (i * 977 + j * j * 31) % 5 < 2 ? 1 + double(i - j) : 0.0; });
  const auto made = to_hdia(a);
  EXPECT_EQ(violation(made), "");
  EXPECT_GT(made.strip_ptr[1], 256);
  const auto back = to_coo(made);
  EXPECT_TRUE(kit::same_bits(as_cview(back.col), as_cview(a.col)));
  EXPECT_TRUE(kit::same_bits(as_cview(back.val), as_cview(a.val)));
}

TEST(hdia, does_not_depend_on_the_number_of_threads) {
  const auto a = kit::large_battery().front().a;
  set_threads(1);
  const auto one = to_hdia(a);
  set_threads(3);
  const auto three = to_hdia(a);
  const auto back = to_coo(three);
  set_threads(0);
  EXPECT_TRUE(kit::same_bits(as_cview(one.offset), as_cview(three.offset)));
  EXPECT_TRUE(kit::same_bits(as_cview(one.val), as_cview(three.val)));
  EXPECT_TRUE(kit::same_bits(as_cview(one.rest.val), as_cview(three.rest.val)));
  EXPECT_TRUE(kit::same_bits(as_cview(back.val), as_cview(a.val)));
}

TEST(hdia, every_broken_promise_is_found) {
  using matrix = hdia<double, host_array>;
  const matrix good = to_hdia(kit::laplacian(20)); // two slices of three strips
  ASSERT_EQ(violation(good), "");
  ASSERT_EQ(good.offset.size(), 6);
  const auto broken = kit::violation_after(good);
  EXPECT_NE(broken([](matrix& a) { a.shape.rows = 40; }), "");
  EXPECT_NE(broken([](matrix& a) { a.shape.cols = 1; }), "");
  EXPECT_NE(broken([](matrix& a) { a.strip_ptr[0] = 1; }), "");
  EXPECT_NE(broken([](matrix& a) { a.strip_ptr[1] = 7; }), "");
  EXPECT_NE(broken([](matrix& a) { a.strip_ptr[2] = 5; }), "");
  EXPECT_NE(broken([](matrix& a) { a.offset[1] = -1; }), "");
  EXPECT_NE(broken([](matrix& a) { a.val.resize(3); }), "");
  EXPECT_NE(broken([](matrix& a) { a.val[0] = 1; }), "");          // left of column 0
  EXPECT_NE(broken([](matrix& a) { a.val[16 * 5 + 3] = 1; }), ""); // right of the last column
  EXPECT_NE(broken([](matrix& a) { a.val[16 * 4 + 4] = 1; }), ""); // behind the last row
  EXPECT_NE(broken([](matrix& a) { a.rest.height = 32; }), "");
  EXPECT_NE(broken([](matrix& a) { a.rest.slice_ptr[2] = 16; }), "");
  EXPECT_NE(broken([](matrix& a) { std::fill_n(a.val.begin() + 16, 16, 0.0); }), "");
}

TEST(hdia, refuses_what_has_few_diagonals_in_common) {
  const auto s = measure(generate("powerlaw:3000:8:2.3").a);
  const format_entry& f = find_format("hdia");
  const std::string why = f.lay_out(s, precision::f64, {}).refusal;
  EXPECT_NE(why.find("places an entry"), std::string::npos) << why;
  EXPECT_EQ(f.lay_out(s, precision::f64, "1000").refusal, "");
  EXPECT_EQ(f.lay_out(measure(kit::laplacian(40, 30)), precision::f64, {}).refusal, "");
  EXPECT_EQ(f.lay_out(measure(kit::assemble({3, 3}, {})), precision::f64, {}).refusal, "");
  EXPECT_THROW(f.lay_out(s, precision::f64, "0"), error);
  EXPECT_THROW(f.lay_out(s, precision::f64, "3:4"), error);
}

TEST(hdia, takes_all_entries_for_scattered_where_only_the_sizes_are_known) {
  stats s;
  s.shape = {1000, 1000};
  s.nnz = 6500;
  const layout l = find_format("hdia").lay_out(s, precision::f32, {});
  EXPECT_FALSE(l.exact);
  EXPECT_EQ(l.places, 6500);
}

} // namespace
} // namespace furrow
