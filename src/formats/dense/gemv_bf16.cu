// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_launch.hpp"

namespace furrow::dense {
template void run_on_gpu(const call<bfloat16>&, std::string_view);
} // namespace furrow::dense
