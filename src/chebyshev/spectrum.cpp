// SPDX-License-Identifier: BSD-3-Clause
// What is known of a matrix from its entries, and the functions of its spectrum.
#include "core/check.hpp"
#include "core/symmetry.hpp"

#include <furrow/chebyshev/density.hpp>
#include <furrow/chebyshev/fit.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace furrow::chebyshev {
namespace {

/// Jackson's factors: the positive kernel of this many terms with the least width.
std::vector<double> jackson(index_t count) {
  std::vector<double> g(static_cast<std::size_t>(count));
  const double q = std::numbers::pi / static_cast<double>(count + 1);
  for (index_t k = 0; k < count; ++k) {
    const double angle = q * static_cast<double>(k);
    g[static_cast<std::size_t>(k)] =
        (static_cast<double>(count - k + 1) * std::cos(angle) + std::sin(angle) / std::tan(q)) /
        static_cast<double>(count + 1);
  }
  return g;
}

/// acos of the place of x on the interval, from the distance to its nearer end.
double angle_of(double x, interval on) {
  const double up = std::clamp((x - on.low) / (on.high - on.low), 0.0, 1.0);
  const double down = std::clamp((on.high - x) / (on.high - on.low), 0.0, 1.0);
  return 2 * std::atan2(std::sqrt(down), std::sqrt(up));
}

} // namespace

template <class V> interval gershgorin(const coo<V>& a) {
  check_triplets(a);
  check(a.shape.rows == a.shape.cols, fault::usage, "the matrix is {} x {}: only a square one has eigenvalues",
        a.shape.rows, a.shape.cols);
  check(a.shape.rows > 0, fault::usage, "a matrix without rows has no spectrum");
  std::vector<double> middle(static_cast<std::size_t>(a.shape.rows)), radius(middle.size());
  for (index_t k = 0; k < a.nnz(); ++k) {
    const auto row = static_cast<std::size_t>(a.row[k]);
    if (a.row[k] == a.col[k]) middle[row] = double(a.val[k]);
    else radius[row] += std::abs(double(a.val[k]));
  }
  interval on{middle[0] - radius[0], middle[0] + radius[0]};
  for (std::size_t i = 0; i < middle.size(); ++i) {
    check(std::isfinite(middle[i] + radius[i]), fault::input,
          "row {} of the matrix holds a NaN or an infinity, or its sum leaves the range of double", i + 1);
    on.low = std::min(on.low, middle[i] - radius[i]);
    on.high = std::max(on.high, middle[i] + radius[i]);
  }
  check(is_symmetric(a), fault::input, "A is not symmetric: bounds and densities are those of real eigenvalues");
  // A little wider: sums round, and a multiple of the identity would leave no interval at all.
  const double size = std::max(std::abs(on.low), std::abs(on.high));
  const double slack = size > 0 ? std::max(1e-6, 32 * double(std::numeric_limits<V>::epsilon())) * size : 1;
  on = {on.low - slack, on.high + slack};
  check(on.low < on.high && std::isfinite(on.high - on.low), fault::input,
        "the eigenvalues of the matrix may reach {:.3g}, where differences leave the range of double: scale the matrix",
        size);
  return on;
}

template <class V> coo<V> centre(coo<V> a, interval on) {
  check_interval(on);
  check_triplets(a);
  check(a.shape.rows == a.shape.cols, fault::usage, "the matrix is {} x {}: only a square one has a centre",
        a.shape.rows, a.shape.cols);
  const V middle = static_cast<V>(on.middle());
  index_t present = 0;
  for (index_t k = 0; k < a.nnz(); ++k) {
    if (a.row[k] != a.col[k]) continue;
    a.val[k] -= middle;
    ++present;
  }
  const index_t missing = a.shape.rows - present;
  if (missing == 0 || middle == V(0)) return a;
  const index_t total = a.nnz() + missing;
  coo<V> full{a.shape, host_array<std::int32_t>(total), host_array<std::int32_t>(total), host_array<V>(total)};
  index_t to = 0, from = 0;
  const auto put = [&](std::int32_t row, std::int32_t col, V value) {
    full.row[to] = row;
    full.col[to] = col;
    full.val[to++] = value;
  };
  for (std::int32_t row = 0; row < a.shape.rows; ++row) {
    for (; from < a.nnz() && a.row[from] == row && a.col[from] < row; ++from) put(row, a.col[from], a.val[from]);
    if (from == a.nnz() || a.row[from] != row || a.col[from] != row) put(row, row, -middle);
    for (; from < a.nnz() && a.row[from] == row; ++from) put(row, a.col[from], a.val[from]);
  }
  return full;
}

#define FURROW_INSTANTIATE(V)                                                                                          \
  template interval gershgorin(const coo<V>&);                                                                         \
  template coo<V> centre(coo<V>, interval);
FURROW_INSTANTIATE(double)
FURROW_INSTANTIATE(float)
#undef FURROW_INSTANTIATE

series exponential(double t, interval on, double tolerance) {
  check_interval(on);
  const double most = std::max(t * on.low, t * on.high);
  check(std::isfinite(t) && most < 709, fault::usage,
        "exp({} lambda) reaches exp({}) on [{}, {}], beyond the range of double: shift the matrix or take a "
        "shorter time",
        t, most, on.low, on.high);
  // Relative to its largest value, so that the fit works on numbers of order 1.
  fit_options options;
  options.tolerance = tolerance;
  options.most_points = (index_t(1) << 20) + 1;
  series p = fit(std::function<double(double)>([&](double x) { return std::exp(t * x - most); }), on, options);
  for (double& a : p.coefficients) a *= std::exp(most);
  return p;
}

series window(double low, double high, interval on, index_t degree) {
  check_interval(on);
  check_interval({low, high});
  check(degree >= 0 && degree < longest_series, fault::usage, "a window of degree {}: between 0 and {} can be had",
        degree, longest_series - 1);
  const double from = angle_of(high, on), to = angle_of(low, on); // the angle falls where x rises
  const auto g = jackson(degree + 1);
  series p{host_array<double>(degree + 1), on};
  p.coefficients[0] = (to - from) / std::numbers::pi;
  for (index_t k = 1; k <= degree; ++k) {
    const double kk = static_cast<double>(k);
    p.coefficients[k] =
        g[static_cast<std::size_t>(k)] * 2 / (kk * std::numbers::pi) * (std::sin(kk * to) - std::sin(kk * from));
  }
  return p;
}

double spectral_density::at(double lambda) const {
  if (std::isnan(lambda)) return lambda;
  if (!(on.low < lambda && lambda < on.high)) return 0;
  const double angle = angle_of(lambda, on);
  const auto g = jackson(moments.size());
  double sum = moments.empty() ? 0 : moments[0];
  for (index_t k = 1; k < moments.size(); ++k)
    sum += 2 * g[static_cast<std::size_t>(k)] * moments[k] * std::cos(angle * static_cast<double>(k));
  return double(rows) * sum / (std::numbers::pi * std::sin(angle) * on.half_width());
}

double spectral_density::count_below(double lambda) const {
  if (std::isnan(lambda)) return lambda;
  if (!(lambda > on.low)) return 0;
  const double angle = angle_of(lambda, on);
  const auto g = jackson(moments.size());
  double sum = moments.empty() ? 0 : moments[0] * (std::numbers::pi - angle);
  for (index_t k = 1; k < moments.size(); ++k)
    sum -= 2 * g[static_cast<std::size_t>(k)] * moments[k] * std::sin(angle * static_cast<double>(k)) /
           static_cast<double>(k);
  return double(rows) * sum / std::numbers::pi;
}

} // namespace furrow::chebyshev
