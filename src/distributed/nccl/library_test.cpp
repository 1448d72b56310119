// SPDX-License-Identifier: BSD-3-Clause
#include "library.hpp"

#include "kit/said_by.hpp"

#include <gtest/gtest.h>

namespace furrow {
namespace {

TEST(nccl, says_where_it_was_looked_for_and_what_to_install) {
  const auto gone = nccl::look_for({"libfurrow_none.so.2"}, {"/none/lib"});
  EXPECT_FALSE(gone.found);
  EXPECT_EQ(
      nccl::sentence(gone),
      "NCCL, libnccl.so.2, is not found where the loader looks, nor in /none/lib: pip install nvidia-nccl-cu13 has "
      "it; name its folder in LD_LIBRARY_PATH, or the file in FURROW_NCCL");
  const auto no_file = nccl::look_for({"/none/lib/libnccl.so.2"}, {});
  EXPECT_FALSE(no_file.found);
  EXPECT_TRUE(kit::mentions(no_file.why, "cannot be loaded (/none/lib/libnccl.so.2")) << no_file.why;
  const auto another = nccl::look_for({"libm.so.6"}, {});
  EXPECT_FALSE(another.found);
  EXPECT_EQ(another.why, "cannot be used (libm.so.6 lacks functions)");
}

TEST(nccl, is_whole_where_it_is_found) {
  const nccl::search& s = nccl::searched();
  EXPECT_NE(s.found.has_value(), s.why.empty() ? false : true);
  if (!s.found) GTEST_SKIP() << nccl::sentence(s);
  EXPECT_GE(s.found->version, nccl::oldest_version);
  EXPECT_EQ(s.found->name().rfind("NCCL 2.", 0), 0U) << s.found->name();
  EXPECT_NE(s.found->error_string(1), nullptr);
}

TEST(nccl, is_named_by_its_version) {
  nccl::library l;
  l.version = 22809;
  EXPECT_EQ(l.name(), "NCCL 2.28.9");
  l.version = 21403;
  EXPECT_EQ(l.name(), "NCCL 2.14.3");
}

} // namespace
} // namespace furrow
