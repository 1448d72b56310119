// SPDX-License-Identifier: BSD-3-Clause
#include "bicgstab2.hpp"

#include "solvers/on_gpu.hpp"

FURROW_SOLVER_ON_GPU(bicgstab2_method)
