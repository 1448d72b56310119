// SPDX-License-Identifier: BSD-3-Clause
#include "fgmres.hpp"

#include "solvers/on_gpu.hpp"

FURROW_SOLVER_ON_GPU(fgmres_method)
