// SPDX-License-Identifier: BSD-3-Clause
// What can be said without a GPU; the rest is in tests/gpu/resident_test.cpp.
#include "solvers/entry.hpp"

#include "kit/matrices.hpp"
#include "kit/said_by.hpp"

#include <furrow/error.hpp>
#include <furrow/solver.hpp>

#include <gtest/gtest.h>

namespace furrow {
namespace {

TEST(bicgstab_resident, is_refused_on_the_cpu_with_what_to_take) {
  solve_options o;
  o.solver = "bicgstab_resident";
  EXPECT_EQ(
      kit::said_by([&] { const solver<double> made(kit::laplacian(5, 5), o); }),
      "bicgstab_resident keeps the system on the chip of a GPU, and has no part for the CPU: take bicgstab there");
}

TEST(bicgstab_resident, has_no_parameters_and_fits_no_cpu) {
  const solver_entry& entry = find_solver("bicgstab_resident");
  EXPECT_THROW(entry.vectors("5"), error);
  EXPECT_FALSE(entry.set_up.may_serve(stats{}, precision::f64, device{}));
}

} // namespace
} // namespace furrow
