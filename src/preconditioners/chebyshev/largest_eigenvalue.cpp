// SPDX-License-Identifier: BSD-3-Clause
#include "largest_eigenvalue.hpp"

#include "backends/cpu/space.hpp"
#include "preconditioners/stop.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace furrow::chebyshev_preconditioner {
namespace {

/// Eigenvalues of the tridiagonal matrix above x: the signs of its LDL' factors.
int count_above(const std::vector<double>& diagonal, const std::vector<double>& beside, double x) {
  int above = 0;
  double d = 1;
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    d = diagonal[k] - x - (k > 0 ? beside[k - 1] * beside[k - 1] / d : 0);
    if (d == 0) d = 1e-300;
    above += d > 0;
  }
  return above;
}

double largest_of(const std::vector<double>& diagonal, const std::vector<double>& beside) {
  double low = 0, high = 0;
  for (std::size_t k = 0; k < diagonal.size(); ++k) {
    const double radius = (k > 0 ? beside[k - 1] : 0) + (k + 1 < diagonal.size() ? beside[k] : 0);
    high = std::max(high, std::abs(diagonal[k]) + radius);
  }
  low = -high;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2;
    (count_above(diagonal, beside, middle) > 0 ? low : high) = middle;
  }
  return high;
}

/// In [-1, 1) by a hash of i (Steele, Lea, Flood, SplitMix, 2014).
double hashed(index_t i) {
  auto z = static_cast<std::uint64_t>(i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return double(z >> 11) * 0x1p-52 - 1;
}

template <class V> double dot(cpu::space<V>& space, cview<V> x, cview<V> y) {
  double sum = 0;
  space.dot(x, y, {&sum});
  return sum;
}

} // namespace

template <class V> double largest_ritz_value(const any_operator<V>& a, int steps) {
  const index_t n = a.shape().rows;
  if (n == 0) return 0;
  cpu::space<V> space;
  host_array<V> v(n), before(n, V(0)), next(n);
  for (index_t i = 0; i < n; ++i) v[i] = static_cast<V>(hashed(i));
  const double norm = std::sqrt(dot<V>(space, as_cview(v), as_cview(v)));
  for (V& x : v) x = static_cast<V>(double(x) / norm);
  std::vector<double> diagonal, beside;
  for (int k = 0; k < steps; ++k) {
    stops_set_up::at_row(0);
    a.apply(V(1), as_cview(v), V(0), as_view(next));
    diagonal.push_back(dot<V>(space, as_cview(v), as_cview(next)));
    const double alpha = diagonal.back(), last = beside.empty() ? 0 : beside.back();
    for (index_t i = 0; i < n; ++i) next[i] -= static_cast<V>(alpha * double(v[i]) + last * double(before[i]));
    const double beta = std::sqrt(dot<V>(space, as_cview(next), as_cview(next)));
    if (!(beta > 1e-6 * std::abs(alpha)) || k + 1 == steps) break; // an invariant space, or the last step
    beside.push_back(beta);
    for (index_t i = 0; i < n; ++i) before[i] = static_cast<V>(double(next[i]) / beta);
    std::swap(before, v);
  }
  return largest_of(diagonal, beside);
}

template double largest_ritz_value(const any_operator<double>&, int);
template double largest_ritz_value(const any_operator<float>&, int);

} // namespace furrow::chebyshev_preconditioner
