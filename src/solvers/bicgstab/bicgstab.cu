// SPDX-License-Identifier: BSD-3-Clause
#include "bicgstab.hpp"

#include "solvers/on_gpu.hpp"

FURROW_SOLVER_ON_GPU(bicgstab_method)
