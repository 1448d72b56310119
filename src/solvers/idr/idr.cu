// SPDX-License-Identifier: BSD-3-Clause
#include "idr.hpp"

#include "solvers/on_gpu.hpp"

FURROW_SOLVER_ON_GPU(idr_method)
