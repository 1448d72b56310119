// SPDX-License-Identifier: BSD-3-Clause
#include "in_single_precision.hpp"

#include "memory.hpp"

#include "core/check.hpp"
#include "core/parameters.hpp"
#include "core/single_precision.hpp"
#include "solvers/entry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow {

solver_in_single_precision::solver_in_single_precision(coo<double> a, solve_options o)
    : exponent_(exponent_for_single_precision(as_cview(a.val))) {
  check(exponent_ == 0 || o.solver == "auto" || !find_solver(o.solver).needs.transposed ||
            take_apart(o.solver).parameters.empty(),
        fault::usage,
        "in single precision this matrix is multiplied by 2^{}, which the damping of {} does not know: use f64",
        exponent_, o.solver);
  to_its_units(o);
  if (o.announce)
    o.announce = [announce = o.announce, rows = a.shape.rows, nnz = a.nnz()](memory_estimate e) {
      announce(beside_doubles(e, rows, nnz));
    };
  solver_ = std::make_unique<solver<float>>(to_single_precision(std::move(a), exponent_), o);
}

void solver_in_single_precision::set_limits(solve_options o) {
  to_its_units(o);
  solver_->set_limits(o);
}

void solver_in_single_precision::to_its_units(solve_options& o) const {
  o.atol = std::min(std::ldexp(o.atol, exponent_), std::numeric_limits<double>::max());
}

/// One right-hand side and first guess.
void solver_in_single_precision::narrow(cview<double> b, cview<double> x, view<float> narrow_b,
                                        view<float> narrow_x) const {
  double size = 0;
  for (index_t i = 0; i < b.size; ++i) {
    narrow_b[i] = static_cast<float>(std::ldexp(b[i], exponent_));
    check(std::isfinite(narrow_b[i]) || !std::isfinite(b[i]), fault::input,
          "element {} of b = {} is too large for single precision: use f64", i + 1, b[i]);
    size = std::max(size, std::abs(b[i]));
  }
  check(!(size > 0) || !(std::ldexp(size, exponent_) < double(std::numeric_limits<float>::min())), fault::input,
        "b has no element beyond {}, which is too small for single precision: use f64", size);
  for (index_t i = 0; i < x.size; ++i) {
    narrow_x[i] = static_cast<float>(x[i]);
    check(std::isfinite(narrow_x[i]) || !std::isfinite(x[i]), fault::input,
          "element {} of the first guess = {} is too large for single precision: use f64", i + 1, x[i]);
  }
}

std::vector<solve_report> solver_in_single_precision::solve(cview<double> b, view<double> x, index_t columns) {
  const index_t rows = b.size / columns, cols = x.size / columns;
  host_array<float> narrow_b(b.size), narrow_x(x.size);
  for (index_t j = 0; j < columns; ++j)
    narrow(part(b, j * rows, rows), part(as_cview(x), j * cols, cols), part(as_view(narrow_b), j * rows, rows),
           part(as_view(narrow_x), j * cols, cols));
  auto reports = columns == 1 ? std::vector{solver_->solve(as_cview(narrow_b), as_view(narrow_x))}
                              : solver_->solve(as_cview(narrow_b), as_view(narrow_x), columns);
  std::copy(narrow_x.begin(), narrow_x.end(), x.begin());
  return reports;
}

} // namespace furrow
