// SPDX-License-Identifier: BSD-3-Clause
#include "cr.hpp"

#include "solvers/on_gpu.hpp"

FURROW_SOLVER_ON_GPU(cr_method)
