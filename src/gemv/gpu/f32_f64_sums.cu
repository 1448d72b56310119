// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

namespace furrow::dense {
template bool launch<double>(const call<float>&, std::string_view, const gpu::queue&);
} // namespace furrow::dense
