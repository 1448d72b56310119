// SPDX-License-Identifier: BSD-3-Clause
#include "cufft.hpp"

#include "kit/said_by.hpp"

#include <furrow/error.hpp>

#include <gtest/gtest.h>

namespace furrow::chebyshev {
namespace {

using kit::mentions;

TEST(cufft, says_where_it_was_looked_for_and_what_to_install) {
  const auto gone = cufft::look_for({"libfurrow_none.so.1"}, {"/none/lib"});
  EXPECT_FALSE(gone.found);
  EXPECT_EQ(cufft::sentence(gone),
            "a Fourier transform on a GPU needs cuFFT, libcufft.so.12 or libcufft.so.11, which is not found where the "
            "loader looks, nor in /none/lib: pip install nvidia-cufft has it; name its folder in LD_LIBRARY_PATH, or "
            "choose the algorithm direct");
  const auto another = cufft::look_for({"libm.so.6"}, {});
  EXPECT_FALSE(another.found);
  EXPECT_TRUE(mentions(cufft::sentence(another), "cannot be used (libm.so.6 lacks functions)"));
}

TEST(cufft, is_needed_or_refused) {
  if (cufft::searched().found) {
    EXPECT_EQ(&cufft::needed(), &*cufft::searched().found);
    EXPECT_GE(cufft::needed().version, 10000);
    EXPECT_TRUE(cufft::needed().version_text().starts_with("1"));
    return;
  }
  kit::expect_refusal(fault::device, "pip install nvidia-cufft", [&] { cufft::needed(); });
}

TEST(cufft, says_what_failed) {
  const auto said = [](cufft::status s) {
    try {
      cufft::check(s, "plan");
    } catch (const error& e) {
      return std::pair(e.kind, std::string(e.what()));
    }
    return std::pair(fault::internal, std::string());
  };
  EXPECT_EQ(said(0).second, "");
  EXPECT_EQ(said(5), std::pair(fault::device, std::string("cuFFT failed to plan (code 5)")));
  EXPECT_EQ(said(2).first, fault::memory);
  cufft::library l;
  l.version = 12104;
  EXPECT_EQ(l.version_text(), "12.1.4");
}

} // namespace
} // namespace furrow::chebyshev
