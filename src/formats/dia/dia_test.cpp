// SPDX-License-Identifier: BSD-3-Clause
#include "contract.hpp"
#include "convert.hpp"

#include "kit/guarded.hpp"
#include "kit/tile_check.hpp"
#include "kit/triplets_check.hpp"
#include "kit/without_zeros.hpp"

#include <furrow/device.hpp>
#include <furrow/error.hpp>
#include <furrow/formats.hpp>
#include <furrow/storage.hpp>

#include <limits>

namespace furrow {
namespace {

template <class V> struct dia_of : testing::Test {};
using precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(dia_of, precisions);

/// The battery, and the larger matrices of few diagonals.
std::vector<kit::named_matrix> matrices() {
  auto all = kit::battery();
  for (auto& m : kit::large_battery())
    if (measure(m.a).diagonals < 100) all.push_back(std::move(m));
  return all;
}

TYPED_TEST(dia_of, keeps_its_contract_and_comes_back_without_explicit_zeros) {
  for (const auto& m : matrices()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<TypeParam>(m.a);
    const auto made = to_dia(a);
    EXPECT_EQ(violation(made), "");
    EXPECT_EQ(made.shape, a.shape);
    EXPECT_EQ(made.offset.size(), measure(a).diagonals);
    kit::expect_same(to_coo(made), kit::without_zeros(a));
  }
}

TYPED_TEST(dia_of, adds_up_tiles_of_every_size) {
  for (const auto& m : kit::battery()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<TypeParam>(m.a);
    const auto made = to_dia(a);
    kit::check_tiles(view_of(made), a);
  }
}

TYPED_TEST(dia_of, a_number_that_is_not_finite_never_hides_and_stays_on_the_diagonals) {
  using V = TypeParam;
  const auto a = kit::as_precision<V>(kit::laplacian(40, 30));
  const auto op = find_format("dia").cpu.make<V>()(a, {}, "auto");
  for (const V bad : {std::numeric_limits<V>::infinity(), std::numeric_limits<V>::quiet_NaN()})
    for (const index_t at : {index_t(0), index_t(599), index_t(1199)}) {
      host_array<V> x(1200, V(1)), y(1200);
      x[at] = bad;
      op->apply(1, as_cview(x), 0, as_view(y));
      for (index_t row = 0; row < 1200; ++row) {
        const index_t away = std::abs(row - at);
        EXPECT_EQ(!std::isfinite(y[row]), away == 0 || away == 1 || away == 40) << "row " << row;
      }
    }
}

TEST(dia, does_not_depend_on_the_number_of_threads) {
  const auto a = kit::large_battery().front().a;
  set_threads(1);
  const auto one = to_dia(a);
  set_threads(3);
  const auto three = to_dia(a);
  const auto back = to_coo(three);
  set_threads(0);
  EXPECT_TRUE(kit::same_bits(as_cview(one.val), as_cview(three.val)));
  EXPECT_TRUE(kit::same_bits(as_cview(back.val), as_cview(a.val)));
}

TEST(dia, tiles_without_checks_lie_inside_the_matrix) {
  const auto made = to_dia(kit::laplacian(40, 30));
  const auto a = view_of(made);
  EXPECT_FALSE(inside(a, 39, 10)); // row 39 has no column -1
  EXPECT_TRUE(inside(a, 40, 10));
  EXPECT_TRUE(inside(a, 1150, 10));
  EXPECT_FALSE(inside(a, 1150, 11));
  EXPECT_FALSE(inside(a, 1190, 16));
}

TEST(dia, every_broken_promise_is_found) {
  using matrix = dia<double, host_array>;
  const matrix good = to_dia(kit::laplacian(20));
  ASSERT_EQ(violation(good), "");
  const auto broken = kit::violation_after(good);
  EXPECT_NE(broken([](matrix& a) { a.shape.rows = 40; }), "");
  EXPECT_NE(broken([](matrix& a) { a.shape.cols = 1; }), "");
  EXPECT_NE(broken([](matrix& a) { a.stride = 20; }), "");
  EXPECT_NE(broken([](matrix& a) { a.val.resize(3); }), "");
  EXPECT_NE(broken([](matrix& a) { a.offset[0] = -20; }), "");
  EXPECT_NE(broken([](matrix& a) { a.offset[2] = 0; }), "");
  EXPECT_NE(broken([](matrix& a) { a.val[0] = 1; }), "");           // left of column 0
  EXPECT_NE(broken([](matrix& a) { a.val[2 * 32 + 19] = 1; }), ""); // right of the last column
  EXPECT_NE(broken([](matrix& a) { a.val[32 + 20] = 1; }), "");     // behind the last row
}

TEST(dia, refuses_what_it_would_mostly_pad) {
  const auto s = measure(kit::from_function(40, [](index_t i, index_t j) { return i + j == 39 ? 1.0 : 0.0; }));
  const format_entry& f = find_format("dia");
  const std::string why = f.lay_out(s, precision::f64, {}).refusal;
  EXPECT_NE(why.find("40 diagonals of 40 rows, 40 places an entry"), std::string::npos) << why;
  EXPECT_NE(why.find("dia:40"), std::string::npos) << why;
  EXPECT_NE(f.lay_out(s, precision::f64, "39").refusal, "");
  EXPECT_EQ(f.lay_out(s, precision::f64, "40").refusal, "");
  EXPECT_EQ(f.lay_out(measure(kit::laplacian(40, 30)), precision::f64, {}).refusal, "");
  EXPECT_THROW(f.lay_out(s, precision::f64, "0"), error);
  EXPECT_THROW(f.lay_out(s, precision::f64, "3:4"), error);
}

TEST(dia, guesses_where_only_the_sizes_are_known) {
  stats s;
  s.shape = {1000, 1000};
  s.nnz = 6500;
  const layout l = find_format("dia").lay_out(s, precision::f32, {});
  EXPECT_FALSE(l.exact);
  EXPECT_EQ(l.bytes, 7 * (1008 * 4 + 4));
}

} // namespace
} // namespace furrow
