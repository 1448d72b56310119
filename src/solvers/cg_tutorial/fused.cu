// SPDX-License-Identifier: BSD-3-Clause
#include "fused.hpp"

#include "solvers/on_gpu.hpp"

FURROW_SOLVER_ON_GPU(cg_fused_method)
