// SPDX-License-Identifier: BSD-3-Clause
// The temperature of a square plate that is heated in its middle and held at 0 along its edge:
//   -u_xx - u_yy = f   on n x n points, as A x = b with the five-point Laplacian.
#include <furrow/furrow.hpp>

#include <cstdio>

using furrow::index_t;

/// Row i of A says: 4 u_i minus its neighbours. Triplets come sorted by row, then column.
static furrow::coo<double> plate(index_t n) {
  const index_t points = n * n, most = 5 * points;
  furrow::coo<double> a{{points, points},
                        furrow::host_array<std::int32_t>(most),
                        furrow::host_array<std::int32_t>(most),
                        furrow::host_array<double>(most)};
  index_t k = 0;
  const auto put = [&](index_t row, index_t col, double value) {
    a.row[k] = static_cast<std::int32_t>(row);
    a.col[k] = static_cast<std::int32_t>(col);
    a.val[k++] = value;
  };
  for (index_t i = 0; i < points; ++i) {
    const index_t x = i % n, y = i / n;
    if (y > 0) put(i, i - n, -1);
    if (x > 0) put(i, i - 1, -1);
    put(i, i, 4);
    if (x + 1 < n) put(i, i + 1, -1);
    if (y + 1 < n) put(i, i + n, -1);
  }
  a.row.resize(k);
  a.col.resize(k);
  a.val.resize(k);
  return a;
}

int main() try {
  const index_t n = 200, middle = n / 2 * n + n / 2;
  furrow::host_array<double> b(n * n, 0.0), x(n * n, 0.0);
  b[middle] = 1;

  furrow::solve_options options;
  options.where = furrow::parse_device("auto"); // a GPU where there is one
  options.rtol = 1e-10;
  const auto report = furrow::solve(plate(n), furrow::as_cview(b), furrow::as_view(x), options);

  std::printf("%s on %s: %s\n", report.format.c_str(), furrow::describe(options.where).c_str(), report.message.c_str());
  std::printf("relative residual %.1e, %.0f bytes an iteration\n", report.relative_residual,
              report.bytes_per_iteration);
  std::printf("the middle is at %.4f, a corner at %.1e\n", x[middle], x[0]);
  return report.why == furrow::status::converged ? 0 : 1;
} catch (const furrow::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
