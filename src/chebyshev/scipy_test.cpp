// SPDX-License-Identifier: BSD-3-Clause
// exp(t A) x beside scipy.sparse.linalg.expm_multiply, where a Python with SciPy is: $FURROW_PYTHON, or python3.
#include "kit/matrices.hpp"

#include <furrow/chebyshev.hpp>
#include <furrow/formats.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace furrow::chebyshev {
namespace {

/// The numbers that a Python program prints; none where it fails.
std::vector<double> numbers_of_python(const std::string& program) {
  const char* const named = std::getenv("FURROW_PYTHON");
  const std::string command = std::string(named ? named : "python3") + " -c '" + program + "' 2>/dev/null";
  std::vector<double> all;
  const std::unique_ptr<FILE, int (*)(FILE*)> from(popen(command.c_str(), "r"), pclose);
  double x = 0;
  while (from && std::fscanf(from.get(), "%lf", &x) == 1) all.push_back(x);
  return all;
}

TEST(chebyshev_exponential, is_that_of_scipy) {
  const index_t n = 30; // a grid of n x n points
  const std::string program = R"(
import numpy
from scipy.sparse import diags, identity, kron
from scipy.sparse.linalg import expm_multiply
n, one = 30, identity(30)
line = diags([-1, 2, -1], [-1, 0, 1], shape=(n, n))
a = (kron(line, one) + kron(one, line)).tocsr()
x = numpy.sin(0.7 * numpy.arange(1, n * n + 1))
for t in -0.5, -20, 0.8:
  print(*map(repr, map(float, expm_multiply(t * a, x))))
)";
  const std::vector<double> scipy = numbers_of_python(program);
  if (scipy.empty()) GTEST_SKIP() << "no Python with SciPy is here";
  ASSERT_EQ(scipy.size(), 3 * n * n);
  const auto a = kit::laplacian(n, n);
  const auto op = find_format("csr").cpu.make<double>()(coo<double>(a), {}, "auto");
  const interval on = gershgorin(a);
  host_array<double> x(n * n), y(n * n);
  for (index_t i = 0; i < n * n; ++i) x[i] = std::sin(0.7 * double(i + 1));
  auto wanted = scipy.begin();
  for (const double t : {-0.5, -20.0, 0.8}) {
    apply(exponential(t, on), {*op}, as_cview(x), as_view(y));
    const double scale = std::exp(std::max(t * on.low, t * on.high));
    for (index_t i = 0; i < n * n; ++i) ASSERT_NEAR(y[i], *wanted++, 1e-12 * scale) << t << ", row " << i;
  }
}

} // namespace
} // namespace furrow::chebyshev
