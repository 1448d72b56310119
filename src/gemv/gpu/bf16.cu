// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

namespace furrow::dense {
template bool run_on_gpu(const call<bfloat16>&, std::string_view);
} // namespace furrow::dense
