// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/solve.hpp>

#include <string>
#include <utility>

namespace furrow::kit {

inline solve_options options(std::string solver, std::string precond, double rtol = solve_options{}.rtol) {
  solve_options o;
  o.solver = std::move(solver), o.precond = std::move(precond), o.rtol = rtol;
  return o;
}

} // namespace furrow::kit
