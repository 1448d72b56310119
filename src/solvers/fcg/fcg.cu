// SPDX-License-Identifier: BSD-3-Clause
#include "fcg.hpp"

#include "solvers/on_gpu.hpp"

FURROW_SOLVER_ON_GPU(fcg_method)
