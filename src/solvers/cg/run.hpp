// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "cg.hpp"

#include "solvers/on_device.hpp"

namespace furrow {

/// Conjugate gradients for methods that hand over to them: compiled in cg.cpp alone.
extern template solve_report run_on_device<cg_method>(device, const linear_system<double>&, const solve_options&);
extern template solve_report run_on_device<cg_method>(device, const linear_system<float>&, const solve_options&);

} // namespace furrow
