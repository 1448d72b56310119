// SPDX-License-Identifier: BSD-3-Clause
#include "lsmr.hpp"

#include "solvers/on_gpu.hpp"

FURROW_SOLVER_ON_GPU(lsmr_method)
