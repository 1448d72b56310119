// SPDX-License-Identifier: BSD-3-Clause
#include "overflow.hpp"

#include "kit/matrices.hpp"
#include "kit/said_by.hpp"
#include "kit/solve_check.hpp"

#include <furrow/solve.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <regex>

namespace furrow {
namespace {

using kit::mentions;

const double lost = std::nan("");

TEST(overflow, names_what_left_the_range_and_no_number) {
  const solver_messages::standing s{.iterations = 3};
  const std::string one = overflow({{"r'r", 1.0}, {"p'Ap", lost}}).sentence(s);
  EXPECT_TRUE(mentions(one, "iteration 4: p'Ap is not a finite number: the numbers overflow; ")) << one;
  const std::string both = overflow({{"r'r", HUGE_VAL}, {"p'Ap", -lost}}, 0).sentence(s);
  EXPECT_TRUE(mentions(both, "iteration 3: r'r and p'Ap are not finite numbers: ")) << both;
  const std::string none = overflow({{"r'r", 1.0}}).sentence({.single_precision = true});
  EXPECT_TRUE(mentions(none, "iteration 1: the residual is not a finite number: ")) << none;
  EXPECT_TRUE(mentions(none, "take f64")) << none;
}

/// No sentence of a solver has a NaN or an infinity in it, where its numbers overflow.
TEST(overflow, is_said_without_nan_by_every_solver) {
  const std::regex word("(^|[^a-z])(nan|inf)([^a-z]|$)");
  int overflowed = 0;
  for (const named& method : solvers()) {
    if (method.name == "cg_resident") continue; // needs a GPU
    for (const double size : {1e153, 1e300}) {
      const auto a = kit::from_function(20, [&](index_t i, index_t j) {
        return i == j ? 4 * size : i == j + 1 ? -size : j == i + 1 ? (method.name.find("cg") == 0 ? -size : size) : 0.0;
      });
      solve_options o;
      o.solver = method.name, o.precond = method.name == "direct" ? "jacobi" : "none";
      host_array<double> x(20, 0.0);
      solve_report r;
      try {
        r = solve(a, as_cview(host_array<double>(20, size)), as_view(x), o);
      } catch (const error&) {
        continue; // this matrix is none for it
      }
      overflowed += r.why == status::nan;
      EXPECT_FALSE(std::regex_search(r.message, word)) << method.name << ": " << r.message;
    }
  }
  EXPECT_GT(overflowed, 5);
}

} // namespace
} // namespace furrow
