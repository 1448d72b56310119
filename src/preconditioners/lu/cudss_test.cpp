// SPDX-License-Identifier: BSD-3-Clause
#include "cudss.hpp"

#include "kit/said_by.hpp"

#include <furrow/error.hpp>

#include <gtest/gtest.h>

namespace furrow::lu {
namespace {

using kit::mentions;

TEST(cudss, says_what_to_install_and_what_failed) {
  if (!cudss::find()) {
    EXPECT_TRUE(mentions(kit::said_by([] { cudss::refuse_without(); }), "pip install nvidia-cudss"));
  }
  EXPECT_EQ(kit::said_by([] { cudss::check(0, "it factors"); }), "");
  EXPECT_TRUE(mentions(kit::said_by([] { cudss::check(5, "it factors"); }), "status 5 while it factors"));
  EXPECT_TRUE(mentions(kit::said_by([] { cudss::check(2, "it factors"); }), "out of memory"));
  EXPECT_EQ(kit::said_by([] { cudss::check_memory(1e9, 2e9, "GPU"); }), "");
  EXPECT_TRUE(mentions(kit::said_by([] { cudss::check_memory(3e9, 2e9, "GPU"); }), "3 GB on the GPU"));
}

TEST(cudss, knows_its_versions_apart) {
  const cudss::library old{.major = 0, .minor = 7, .patch = 1}, now{.major = 1};
  EXPECT_EQ(old.name(), "cuDSS 0.7.1");
  EXPECT_NE(old.deterministic_mode(), now.deterministic_mode());
  EXPECT_NE(old.memory_estimates(), now.memory_estimates());
  EXPECT_TRUE(mentions(cudss::describe(old, 7.25, 3), "cuDSS 0.7.1, 7.2 times"));
  EXPECT_TRUE(mentions(cudss::describe(old, 7.25, 3), "3 pivots"));
  EXPECT_FALSE(mentions(cudss::describe(old, 7.25, 0), "pivots"));
}

} // namespace
} // namespace furrow::lu
