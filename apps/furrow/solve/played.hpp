// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solve_request.hpp"

namespace furrow::cli {

/// `furrow solve --solver cg_tutorial --device play`: the tutorial's method without a GPU, with what its kernels read.
int run_played(const solve_request& request);

} // namespace furrow::cli
