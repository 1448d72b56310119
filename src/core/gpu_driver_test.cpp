// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_driver.hpp"

#include <gtest/gtest.h>

namespace furrow {
namespace {

TEST(gpu_driver, that_is_old_is_told_with_both_versions) {
  EXPECT_EQ(cuda_version_text(12040), "12.4");
  EXPECT_EQ(cuda_version_text(13000), "13.0");
  EXPECT_EQ(old_driver_text(12020, 13010),
            "the NVIDIA driver is of CUDA 12.2, and this build, of CUDA 13.1, needs one of "
            "CUDA 13 or later: install driver 580 or later");
  EXPECT_EQ(old_driver_text(11040, 12060),
            "the NVIDIA driver is of CUDA 11.4, and this build, of CUDA 12.6, needs one of "
            "CUDA 12 or later: install driver 525 or later");
  EXPECT_EQ(old_driver_text(13000, 14020),
            "the NVIDIA driver is of CUDA 13.0, and this build, of CUDA 14.2, needs one of "
            "CUDA 14 or later");
}

} // namespace
} // namespace furrow
