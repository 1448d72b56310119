// SPDX-License-Identifier: BSD-3-Clause
#include "gmres.hpp"

#include "solvers/on_gpu.hpp"

FURROW_SOLVER_ON_GPU(gmres_method)
