// SPDX-License-Identifier: BSD-3-Clause
#include "direct.hpp"

#include "solvers/on_gpu.hpp"

FURROW_SOLVER_ON_GPU(direct_method)
