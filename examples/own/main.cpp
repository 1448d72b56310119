// SPDX-License-Identifier: BSD-3-Clause
// What a program can bring of its own: an operator that stores no matrix, a preconditioner, a monitor; and a solver
// that is set up once for a sequence of right-hand sides. The matrix is -u'' + c(x) u on n points of a line.
#include <furrow/furrow.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using furrow::cview;
using furrow::index_t;
using furrow::view;

static double c(index_t i) { return i % 100 == 0 ? 1e4 : 1e-3; }

/// M = D^-1, the inverse of the operator's diagonal.
struct inverse_diagonal final : furrow::any_preconditioner<double> {
  void apply(cview<double> r, view<double> z) const override {
    for (index_t i = 0; i < r.size; ++i) z[i] = r[i] / (2 + c(i));
  }
  double stored_bytes() const override { return 0; }
};

int main() try {
  const index_t n = 1000;
  const furrow::function_operator<double> a({n, n}, [&](cview<double> x, view<double> y) {
    for (index_t i = 0; i < n; ++i) y[i] = (2 + c(i)) * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0);
  });
  const inverse_diagonal m;

  furrow::solve_options options;
  options.rtol = 1e-8;
  options.monitor_every = 20;
  options.monitor = [](const furrow::progress& p, cview<double> x) { // may stop the solver: return false
    std::printf("  step %3ld: residual %.1e, u in the middle %.6f\n", static_cast<long>(p.iteration),
                p.relative_residual, x[x.size / 2 + 50]);
    return true;
  };

  furrow::solver<double> solver(a, &m, options, {.norm = 1e4 + 4, .longest_row = 3});
  std::vector<double> b(n), u(n, 0.0);
  for (int time = 0; time < 3; ++time) { // each one starts from the answer before
    for (index_t i = 0; i < n; ++i) b[i] = 1 + 0.1 * std::sin(0.01 * double(i) + time);
    const auto report = solver.solve(b, u);
    std::printf("time %d: %s\n", time, report.message.c_str());
    if (report.why != furrow::status::converged) return 1;
  }
  return 0;
} catch (const furrow::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
