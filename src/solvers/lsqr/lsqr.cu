// SPDX-License-Identifier: BSD-3-Clause
#include "lsqr.hpp"

#include "solvers/on_gpu.hpp"

FURROW_SOLVER_ON_GPU(lsqr_method)
