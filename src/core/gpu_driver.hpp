// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <string>

namespace furrow {

/// "13.0" for the number 13000 by which CUDA counts its versions.
std::string cuda_version_text(int version);

/// Why a driver of one version of CUDA does not serve a build with another: both versions, and what to install.
std::string old_driver_text(int driver, int runtime);

} // namespace furrow
