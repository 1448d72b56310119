// SPDX-License-Identifier: BSD-3-Clause
#include "largest_eigenvalue.hpp"

#include "preconditioners/entry.hpp"

#include "kit/matrices.hpp"

#include <furrow/formats.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace furrow {
namespace {

TEST(largest_ritz_value, comes_close_from_below) {
  const auto csr = [](coo<double> a) {
    return make<double>({&find_format("csr"), "", "auto", ""}, device{}, std::move(a));
  };
  const auto a = csr(kit::laplacian(30, 30));
  const double exact = 8 * std::pow(std::cos(std::numbers::pi / 62), 2);
  const double got = chebyshev_preconditioner::largest_ritz_value(*a, 20);
  EXPECT_LE(got, exact * (1 + 1e-12));
  EXPECT_GE(1.1 * got, exact);
  EXPECT_NEAR(chebyshev_preconditioner::largest_ritz_value(*csr(kit::diagonal({3})), 20), 3, 1e-12);
}

/// On an eigenvector M is p(t), and 1 - t p(t) is the Chebyshev polynomial.
TEST(chebyshev_polynomial, is_the_polynomial_that_it_says) {
  // Blocks (1 c; c 1) have the eigenvalues 1 - c and 1 + c with the eigenvectors (1, -1) and (1, 1).
  for (const int terms : {1, 2, 4, 7})
    for (const double c : {0.1, 0.5, 0.9}) {
      const auto a = kit::assemble({2, 2}, {{0, 0, 1}, {0, 1, c}, {1, 0, c}, {1, 1, 1}});
      const auto m =
          make_preconditioner<double>("chebyshev:" + std::to_string(terms), a, {}, {{true, true}, {true, true}});
      const double lambda = 1 + c, middle = lambda * 31 / 60, radius = lambda * 29 / 60;
      const auto t = [&](double x) {
        return std::abs(x) <= 1 ? std::cos(terms * std::acos(x))
                                : std::cosh(terms * std::acosh(std::abs(x))) * (x < 0 && terms % 2 ? -1 : 1);
      };
      for (const double sign : {1.0, -1.0}) {
        const double eigenvalue = 1 + sign * c, residual = t((middle - eigenvalue) / radius) / t(middle / radius);
        const host_array<double> r{1, sign};
        host_array<double> z(2);
        m->apply(as_cview(r), as_view(z));
        EXPECT_NEAR(z[0], (1 - residual) / eigenvalue, 1e-12) << terms << ' ' << c;
        EXPECT_NEAR(z[1], sign * z[0], 1e-13);
      }
    }
}

} // namespace
} // namespace furrow
