// SPDX-License-Identifier: BSD-3-Clause
#include "environment.hpp"

#include <furrow/error.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace furrow {
namespace {

TEST(environment, values_are_those_of_listed_names) {
  unsetenv("FURROW_CACHE"); // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(environment("FURROW_CACHE"), "");
  setenv("FURROW_CACHE", "here", 1); // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(environment("FURROW_CACHE"), "here");
  try {
    refuse_environment("FURROW_CACHE", "choose another one");
  } catch (const error& e) {
    EXPECT_EQ(e.kind, fault::usage);
    EXPECT_EQ(std::string(e.what()), "FURROW_CACHE=here: choose another one");
  }
  unsetenv("FURROW_CACHE"); // NOLINT(concurrency-mt-unsafe)
  EXPECT_THROW(environment("NOBODY_LISTENS"), error);
}

} // namespace
} // namespace furrow
