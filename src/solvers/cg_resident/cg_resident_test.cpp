// SPDX-License-Identifier: BSD-3-Clause
// What can be said without a GPU; the rest is in tests/gpu/resident_test.cpp.
#include "solvers/entry.hpp"

#include "kit/matrices.hpp"

#include <furrow/error.hpp>
#include <furrow/solver.hpp>

#include <gtest/gtest.h>

namespace furrow {
namespace {

error refused(const solve_options& o) {
  try {
    const solver<double> made(kit::laplacian(5, 5), o);
  } catch (const error& e) {
    return e;
  }
  return {fault::internal, "nothing was refused"};
}

TEST(cg_resident, is_refused_on_the_cpu_with_what_to_take) {
  solve_options o;
  o.solver = "cg_resident";
  const error e = refused(o);
  EXPECT_EQ(e.kind, fault::device);
  EXPECT_EQ(std::string(e.what()),
            "cg_resident keeps the system on the chip of a GPU, and has no part for the CPU: take cg there");
}

TEST(cg_resident, has_no_parameters_and_is_not_corrected_by_refine) {
  EXPECT_THROW(find_solver("cg_resident").vectors("5"), error);
  solve_options o;
  o.solver = "refine:cg_resident";
  const error e = refused(o);
  EXPECT_EQ(e.kind, fault::usage);
  EXPECT_NE(std::string(e.what()).find("name another method"), std::string::npos) << e.what();
}

TEST(cg_resident, fits_no_cpu) {
  EXPECT_FALSE(find_solver("cg_resident").set_up.may_serve(stats{}, precision::f64, device{}));
}

} // namespace
} // namespace furrow
