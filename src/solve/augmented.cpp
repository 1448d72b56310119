// SPDX-License-Identifier: BSD-3-Clause
#include "augmented.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow {
namespace {

constexpr double of_identity = 1e-3;

} // namespace

template <class V>
augmented_system::augmented_system(const coo<V>& a, const solve_options& o)
    : rows_(a.shape.rows), scale_(a.shape.cols, 0.0) {
  for (index_t k = 0; k < a.nnz(); ++k) scale_[a.col[k]] = std::hypot(scale_[a.col[k]], double(a.val[k]));
  for (double& s : scale_) s = s > 0 ? 1 / s : 1;
  const index_t n = rows_ + a.shape.cols, nnz = rows_ + 2 * a.nnz();
  coo<double> all{{n, n}, host_array<std::int32_t>(nnz), host_array<std::int32_t>(nnz), host_array<double>(nnz)};
  index_t at = 0;
  const auto put = [&](index_t i, index_t j, double v) {
    all.row[at] = std::int32_t(i), all.col[at] = std::int32_t(j), all.val[at++] = v;
  };
  std::vector<index_t> next(static_cast<std::size_t>(a.shape.cols + 1), 0); // where the rows of A' begin
  for (index_t k = 0; k < a.nnz(); ++k) ++next[a.col[k] + 1];
  for (index_t j = 0; j < a.shape.cols; ++j) next[j + 1] += next[j];
  const index_t upper = rows_ + a.nnz();
  for (index_t i = 0, k = 0; i < rows_; ++i) {
    put(i, i, of_identity);
    for (; k < a.nnz() && a.row[k] == i; ++k) {
      const double v = double(a.val[k]) * scale_[a.col[k]];
      put(i, rows_ + a.col[k], v);
      const index_t below = upper + next[a.col[k]]++;
      all.row[below] = std::int32_t(rows_ + a.col[k]), all.col[below] = std::int32_t(i), all.val[below] = v;
    }
  }
  solve_options own;
  own.solver = "direct", own.precond = "lu", own.values = precision::f64;
  own.rtol = std::numeric_limits<double>::epsilon();
  own.time_limit = o.time_limit, own.cancelled = o.cancelled, own.assume_symmetric = true;
  factors_ = std::make_unique<solver<double>>(std::move(all), own);
}

template <class V> solve_report augmented_system::solve(cview<V> b, view<V> x, const solve_options& limits) {
  const index_t n = rows_ + scale_.size();
  host_array<double> right(n, 0.0), both(n, 0.0);
  std::ranges::copy(b, right.begin());
  solve_options own;
  own.solver = "direct", own.precond = "lu", own.rtol = std::numeric_limits<double>::epsilon();
  own.time_limit = limits.time_limit, own.max_iterations = limits.max_iterations;
  factors_->set_limits(own);
  solve_report report = factors_->solve(as_cview(right), as_view(both));
  const bool finite = std::ranges::all_of(both, [](double v) { return std::isfinite(v); });
  for (index_t j = 0; finite && j < scale_.size(); ++j) x[j] = V(both[rows_ + j] * scale_[j]);
  return report;
}

template augmented_system::augmented_system(const coo<double>&, const solve_options&);
template augmented_system::augmented_system(const coo<float>&, const solve_options&);
template solve_report augmented_system::solve(cview<double>, view<double>, const solve_options&);
template solve_report augmented_system::solve(cview<float>, view<float>, const solve_options&);

} // namespace furrow
