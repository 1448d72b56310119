// SPDX-License-Identifier: BSD-3-Clause
#include "kit/matrices.hpp"
#include "kit/sanitized.hpp"

#include <furrow/matrix.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace furrow {
namespace {

/// The caller is compiled without sanitizers: it is the library that looks at each access.
TEST(library_with_sanitizers, sees_a_read_beyond_an_array_of_its_caller) {
  if (!kit::sanitized()) GTEST_SKIP() << "this one has none";
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // locks of other threads stay locked in the child of a fork
  const matrix<double> m(kit::laplacian(30, 30));
  const std::vector<double> x(899, 1.0);
  std::vector<double> y(900);
  EXPECT_DEATH(m.apply(1, cview<double>{x.data(), 900}, 0, view<double>{y.data(), 900}), "heap-buffer-overflow");
}

} // namespace
} // namespace furrow
