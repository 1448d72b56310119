// SPDX-License-Identifier: BSD-3-Clause
#include "colleague.hpp"
#include "near_one.hpp"

#include "backends/cpu/parallel.hpp"

#include <furrow/chebyshev/arithmetic.hpp>
#include <furrow/chebyshev/roots.hpp>
#include <furrow/error.hpp>

#include <algorithm>
#include <cmath>

namespace furrow::chebyshev {
namespace {

constexpr index_t longest_piece = 51;      ///< coefficients of a piece whose eigenvalues are worked out
constexpr double cut = -0.004849834917525; ///< not in the middle, where odd functions have a root
constexpr double unit = 0x1p-53;

double size_of(const series& p) {
  double sum = 0;
  for (const double a : p.coefficients) sum += std::abs(a);
  return sum;
}

/// Without the last coefficients below `noise`.
series trimmed(const series& p, double noise) {
  index_t n = p.length();
  while (n > 0 && std::abs(p.coefficients[n - 1]) <= noise) --n;
  return truncate(p, n);
}

/// Halves p down to pieces that are short enough.
class cutter {
public:
  /// Rounding an argument moves a value by u |p'|, up to u n^2 |p| at the few points next to an end: spread over all
  /// coefficients of a piece about u n |p| each.
  explicit cutter(const series& p)
      : noise_(4 * unit * size_of(p) * double(p.length())),
        deepest_(8 + 2 * std::ilogb(double(p.length()) / double(longest_piece) + 1)) {
    cut_up(p, 0);
  }
  std::vector<series> pieces; ///< in order

private:
  void cut_up(const series& p, int depth) {
    const series q = trimmed(p, noise_); // a piece that is nothing but noise has no roots that could be known
    const double x = q.on.at(cut);
    const bool last = depth == deepest_ || !(q.on.low < x && x < q.on.high);
    if (q.length() <= longest_piece || last) {
      if (q.length() > 1) pieces.push_back(truncate(q, longest_piece));
      return;
    }
    // Half of an interval needs 1 / sqrt(2) of the degree at most, and a little; what is beyond that is noise.
    const index_t most = q.length() * 3 / 4 + 30;
    cut_up(truncate(restriction(q, {q.on.low, x}), most), depth + 1);
    cut_up(truncate(restriction(q, {x, q.on.high}), most), depth + 1);
  }

  double noise_;
  int deepest_;
};

/// Roots of one piece, ascending. Two roots that rounding has driven off the real line count as long as p is 0 within
/// rounding between them, where p' is 0.
std::vector<double> roots_of_piece(const series& p) {
  const double noise = 16 * unit * size_of(p), slack = 1e-14, reach = 1e-6;
  const series of_t{p.coefficients, {}}, slope = derivative(of_t), bend = derivative(slope);
  std::vector<double> found;
  for (const auto& z : colleague_roots(as_cview(p.coefficients))) {
    double t = z.real();
    const double apart = std::abs(z.imag());
    if (!(std::abs(t) <= 1 + (apart > slack ? reach : slack) && apart < 1e-3)) continue;
    t = std::clamp(t, -1.0, 1.0);
    if (apart > slack) {
      const double step = slope(t) / bend(t), least = std::clamp(t - step, -1.0, 1.0);
      if (std::abs(step) <= reach && std::abs(of_t(least)) < std::abs(of_t(t))) t = least;
      if (!(std::abs(of_t(t)) <= noise)) continue;
    }
    found.push_back(p.on.at(t));
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Newton's step where it helps and stays nearby. slope: p'
void polish(const series& p, const series& slope, std::vector<double>& x) {
  if (x.empty()) return;
  const auto n = static_cast<index_t>(x.size());
  host_array<double> value(n), steep(n), moved(n), left(n);
  const cview<double> at(x.data(), n);
  evaluate(p, at, as_view(value));
  evaluate(slope, at, as_view(steep));
  const double reach = 1e-6 * p.on.half_width();
  for (index_t i = 0; i < n; ++i) {
    const double step = value[i] / steep[i];
    moved[i] = std::abs(step) <= reach ? std::clamp(at[i] - step, p.on.low, p.on.high) : at[i];
  }
  evaluate(p, as_cview(moved), as_view(left));
  for (index_t i = 0; i < n; ++i)
    if (std::abs(left[i]) < std::abs(value[i])) x[static_cast<std::size_t>(i)] = moved[i];
}

/// With a root at an end that rounding has driven out of the interval: p is 0 there within rounding, and that as a
/// straight line is, unlike where it only falls to rounding.
void add_ends(const series& p, const series& slope, std::vector<double>& x) {
  const double least = 4 * unit * size_of(p), nearby = 1e-8 * p.on.half_width();
  for (const double end : {p.on.low, p.on.high}) {
    const double value = std::abs(p(end));
    if (value <= std::min(least, nearby * std::abs(slope(end))) &&
        std::none_of(x.begin(), x.end(), [&](double root) { return std::abs(root - end) <= nearby; }))
      x.push_back(end);
  }
}

/// Without the roots around which p is nothing but rounding errors, and those that are none: where p falls steeply to
/// that, rounding may take it for 0. Looks at two distances without a common measure: other roots may be as far away as
/// one of them.
void drop_noise(const series& p, std::vector<double>& x) {
  const double least = 4 * unit * size_of(p), noise = unit * double(p.length()) * size_of(p);
  const double reach = 2 * p.on.half_width() / double(p.length()), near = 0.6180339887498949;
  std::vector<double> at;
  for (const double root : x) {
    const double back = std::min(reach, root - p.on.low), on = std::min(reach, p.on.high - root);
    at.insert(at.end(), {root - back, root - near * back, root, root + near * on, root + on});
  }
  const auto n = static_cast<index_t>(at.size());
  host_array<double> value(n);
  evaluate(p, {at.data(), n}, as_view(value));
  x.clear();
  for (index_t i = 0; i < n; i += 5) {
    const auto size = [&](index_t k) { return std::abs(value[i + k]); };
    const double before = std::max(size(0), size(1)), here = size(2), after = std::max(size(3), size(4));
    if (std::max(before, after) > noise && here <= std::max(least, std::min(before, after)))
      x.push_back(at[static_cast<std::size_t>(i + 2)]);
  }
}

} // namespace

host_array<double> roots(const series& p) {
  check_series(p);
  const cview<double> a = as_cview(p.coefficients);
  check(std::any_of(a.begin(), a.end(), [](double v) { return v != 0; }), fault::input,
        "the series is 0 everywhere: every point is a root");
  const series q{scaled_by(a, -exponent_of(a)), p.on};
  const std::vector<series> pieces = cutter(q).pieces;
  std::vector<std::vector<double>> found(pieces.size());
  cpu::for_each_task(static_cast<index_t>(pieces.size()), [&](index_t k) {
    const auto i = static_cast<std::size_t>(k);
    found[i] = roots_of_piece(pieces[i]);
  });
  std::vector<double> all;
  for (const auto& some : found) {
    const bool seen = !all.empty() && !some.empty() && some.front() - all.back() <= 1e-14 * p.on.half_width();
    all.insert(all.end(), some.begin() + seen, some.end()); // one that stands where two pieces meet
  }
  const series slope = derivative(q);
  polish(q, slope, all);
  add_ends(q, slope, all);
  drop_noise(q, all);
  std::sort(all.begin(), all.end());
  host_array<double> result(static_cast<index_t>(all.size()));
  std::copy(all.begin(), all.end(), result.begin());
  return result;
}

} // namespace furrow::chebyshev
