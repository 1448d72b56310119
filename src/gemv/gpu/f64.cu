// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

template bool furrow::dense::run_on_gpu(const call<double>&, std::string_view);
