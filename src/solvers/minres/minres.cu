// SPDX-License-Identifier: BSD-3-Clause
#include "minres.hpp"

#include "solvers/on_gpu.hpp"

FURROW_SOLVER_ON_GPU(minres_method)
