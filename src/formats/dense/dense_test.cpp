// SPDX-License-Identifier: BSD-3-Clause
#include "contract.hpp"
#include "convert.hpp"

#include "kit/matrices.hpp"

#include <furrow/formats.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace furrow {
namespace {

TEST(dense, goes_to_triplets_and_back) {
  for (const auto& m : kit::battery()) {
    const auto a = to_dense(m.a);
    EXPECT_EQ(violation(a), "") << m.name;
    const auto again = to_dense(to_coo(a));
    ASSERT_EQ(again.val.size(), a.val.size());
    EXPECT_TRUE(std::equal(a.val.begin(), a.val.end(), again.val.begin())) << m.name;
  }
}

TEST(dense, refuses_a_matrix_that_is_nearly_empty) {
  const auto s = measure(kit::laplacian(2000));
  const layout l = find_format("dense").lay_out(s, precision::f64, {});
  EXPECT_NE(l.refusal.find("choose a sparse format"), std::string::npos) << l.refusal;
}

} // namespace
} // namespace furrow
