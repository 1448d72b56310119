// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

template bool furrow::dense::launch<double>(const call<float>&, std::string_view, const gpu::queue&);
