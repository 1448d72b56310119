// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_driver.hpp"

namespace furrow {

std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string old_driver_text(int driver, int runtime) {
  const int major = runtime / 1000;
  // CUDA release notes, table "minor version compatibility".
  const std::string least = major == 12 ? "525" : major == 13 ? "580" : "";
  return "the NVIDIA driver is of CUDA " + cuda_version_text(driver) + ", and this build, of CUDA " +
         cuda_version_text(runtime) + ", needs one of CUDA " + std::to_string(major) + " or later" +
         (least.empty() ? "" : ": install driver " + least + " or later");
}

} // namespace furrow
