// SPDX-License-Identifier: BSD-3-Clause
#include "cg_tutorial.hpp"

#include "solvers/on_gpu.hpp"

FURROW_SOLVER_ON_GPU(cg_tutorial_method)
