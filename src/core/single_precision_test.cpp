// SPDX-License-Identifier: BSD-3-Clause
#include "single_precision.hpp"

#include "kit/matrices.hpp"
#include "kit/said_by.hpp"

#include <furrow/error.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace furrow {
namespace {

std::string refusal_of(coo<double> a, int exponent = 0) {
  return kit::said_by(fault::input, [&] { to_single_precision(std::move(a), exponent); });
}

TEST(single_precision, needs_no_exponent_in_its_range) {
  for (const double size : {1e-37, 1e-10, 1.0, 1e38})
    EXPECT_EQ(exponent_for_single_precision(as_cview(host_array<double>{size, 0, -size})), 0) << size;
  EXPECT_EQ(exponent_for_single_precision(as_cview(host_array<double>{0, 0})), 0);
  EXPECT_EQ(exponent_for_single_precision({}), 0);
}

TEST(single_precision, brings_the_largest_value_to_one) {
  for (const double size : {1e-46, 3e-320, 1e39, 1.7e308}) {
    const int e = exponent_for_single_precision(as_cview(host_array<double>{size / 4, -size, std::nan("")}));
    const double scaled = std::ldexp(size, e);
    EXPECT_GE(scaled, 1) << size;
    EXPECT_LT(scaled, 2) << size;
  }
}

TEST(single_precision, scales_without_a_rounding_of_its_own) {
  auto a = kit::laplacian(30);
  for (double& v : a.val) v *= 0x1p-300 * 1.1;
  const int e = exponent_for_single_precision(as_cview(a.val));
  const auto narrow = to_single_precision(coo<double>(a), e);
  for (index_t k = 0; k < a.nnz(); ++k) EXPECT_EQ(narrow.val[k], static_cast<float>(std::ldexp(a.val[k], e)));
}

TEST(single_precision, refuses_what_would_vanish_and_matters) {
  EXPECT_NE(refusal_of(kit::diagonal({1, 1e-50})).find("entry (2, 2) = 1e-50 is too small"), std::string::npos);
  EXPECT_NE(refusal_of(kit::assemble({2, 2}, {{0, 1, 1e-41}})).find("entry (1, 2)"), std::string::npos);
  EXPECT_NE(refusal_of(kit::assemble({2, 2}, {{0, 0, 1e-40}, {0, 1, 1}, {1, 1, 1}})).find("entry (1, 1)"),
            std::string::npos);
  // Small beside its row, but all that there is in its column.
  EXPECT_NE(refusal_of(kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 1e-44}})).find("entry (1, 2)"), std::string::npos);
}

TEST(single_precision, lets_vanish_what_rounding_hides_anyway) {
  const auto narrow = to_single_precision(kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, 1e-50}, {1, 0, 1e-50}, {1, 1, 1}}));
  EXPECT_EQ(narrow.val[1], 0);
  EXPECT_EQ(narrow.val[3], 1);
}

TEST(single_precision, names_the_value_that_is_too_large) {
  EXPECT_NE(refusal_of(kit::diagonal({1, -1e50})).find("entry (2, 2) = -1e+50 is too large"), std::string::npos);
  EXPECT_EQ(refusal_of(kit::diagonal({1e50, -1e50}), -166), "");
}

} // namespace
} // namespace furrow
