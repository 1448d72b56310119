// SPDX-License-Identifier: BSD-3-Clause
#include "tfqmr.hpp"

#include "solvers/on_gpu.hpp"

FURROW_SOLVER_ON_GPU(tfqmr_method)
