// SPDX-License-Identifier: BSD-3-Clause
#include "contract.hpp"
#include "convert.hpp"

#include "kit/guarded.hpp"
#include "kit/lane_check.hpp"
#include "kit/triplets_check.hpp"

#include <furrow/device.hpp>
#include <furrow/storage.hpp>

namespace furrow {
namespace {

/// The element type and the width of the offsets.
template <class V, class I> struct kind {
  using value = V;
  using offset = I;
};
template <class Kind> struct csr_of : testing::Test {};
using kinds = testing::Types<kind<double, std::int32_t>, kind<double, std::int64_t>, kind<float, std::int32_t>,
                             kind<float, std::int64_t>>;
TYPED_TEST_SUITE(csr_of, kinds);

TYPED_TEST(csr_of, keeps_its_contract_and_comes_back_bit_by_bit) {
  using V = typename TypeParam::value;
  for (const auto& m : kit::whole_battery()) {
    SCOPED_TRACE(m.name);
    ASSERT_EQ(kit::violation(m.a), "");
    const auto a = kit::as_precision<V>(m.a);
    const auto made = to_csr<typename TypeParam::offset>(a);
    EXPECT_EQ(violation(made), "");
    EXPECT_EQ(made.shape, a.shape);
    kit::expect_same(to_coo(made), a);
  }
}

TYPED_TEST(csr_of, adds_up_rows_with_every_number_of_lanes) {
  for (const auto& m : kit::battery()) {
    SCOPED_TRACE(m.name);
    const auto a = kit::as_precision<typename TypeParam::value>(m.a);
    const auto made = to_csr<typename TypeParam::offset>(a);
    kit::check_lanes(view_of(made), a);
  }
}

TEST(csr, offsets_do_not_depend_on_the_number_of_threads) {
  const auto m = kit::large_battery().back();
  set_threads(1);
  const auto one = offsets_of_rows<std::int32_t>(m.a.row, m.a.shape.rows);
  set_threads(3);
  const auto three = offsets_of_rows<std::int32_t>(m.a.row, m.a.shape.rows);
  set_threads(0);
  EXPECT_TRUE(kit::same_bits(as_cview(one), as_cview(three)));
}

TEST(csr, every_broken_promise_is_found) {
  using matrix = csr<double, std::int32_t, host_array>;
  const matrix good{{3, 4}, {0, 2, 2, 4}, {0, 3, 1, 2}, {1, 2, 3, 4}};
  ASSERT_EQ(violation(good), "");
  const auto broken = kit::violation_after(good);
  EXPECT_NE(broken([](matrix& a) { a.shape.rows = 4; }), "");
  EXPECT_NE(broken([](matrix& a) { a.row_ptr[0] = 1; }), "");
  EXPECT_NE(broken([](matrix& a) { a.row_ptr[3] = 3; }), "");
  EXPECT_NE(broken([](matrix& a) { a.row_ptr[2] = 1; }), "");
  EXPECT_NE(broken([](matrix& a) { a.col.resize(3); }), "");
  EXPECT_NE(broken([](matrix& a) { a.col[1] = 4; }), "");
  EXPECT_NE(broken([](matrix& a) { a.col[0] = -1; }), "");
  EXPECT_NE(broken([](matrix& a) { a.col[3] = 1; }), "");
  EXPECT_NE(broken([](matrix& a) { a.col[3] = 0; }), "");
}

TEST(csr, an_offset_beyond_the_end_is_found_before_it_is_followed) {
  const csr<double, std::int32_t, host_array> a{{3, 4}, {0, 1000000, 2, 4}, {0, 3, 1, 2}, {1, 2, 3, 4}};
  EXPECT_NE(violation(a), "");
}

} // namespace
} // namespace furrow
