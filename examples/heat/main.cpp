// SPDX-License-Identifier: BSD-3-Clause
// The temperature of a square plate that is heated in its middle and held at 0 along its edge:
//   -u_xx - u_yy = f   on n x n points, as A x = b with the five-point Laplacian.
#include <furrow/furrow.hpp>

#include <cstdio>
#include <vector>

using furrow::index_t;

/// Row i of A says: 4 u_i minus its neighbours.
static furrow::coo<double> plate(index_t n) {
  const index_t points = n * n;
  std::vector<index_t> row, col; // triplets may come in any order
  std::vector<double> value;
  const auto put = [&](index_t i, index_t j, double v) {
    row.push_back(i);
    col.push_back(j);
    value.push_back(v);
  };
  for (index_t i = 0; i < points; ++i) {
    const index_t x = i % n, y = i / n;
    put(i, i, 4);
    if (x > 0) put(i, i - 1, -1);
    if (x + 1 < n) put(i, i + 1, -1);
    if (y > 0) put(i, i - n, -1);
    if (y + 1 < n) put(i, i + n, -1);
  }
  return furrow::assemble({points, points}, row, col, value);
}

int main() try {
  const index_t n = 200, middle = n / 2 * n + n / 2;
  std::vector<double> b(n * n, 0.0), x(n * n, 0.0);
  b[middle] = 1;

  furrow::solve_options options;
  options.where = furrow::parse_device("auto"); // a GPU where there is one
  options.rtol = 1e-10;
  const auto report = furrow::solve<double>(plate(n), b, x, options);

  std::printf("%s on %s: %s\n", report.format.c_str(), furrow::describe(options.where).c_str(), report.message.c_str());
  std::printf("relative residual %.1e, %.0f bytes an iteration\n", report.relative_residual,
              report.bytes_per_iteration);
  std::printf("the middle is at %.4f, a corner at %.1e\n", x[middle], x[0]);
  return report.why == furrow::status::converged ? 0 : 1;
} catch (const furrow::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
