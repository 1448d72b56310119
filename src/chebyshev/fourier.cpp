// SPDX-License-Identifier: BSD-3-Clause
#include "fourier.hpp"

#include <bit>
#include <cmath>
#include <numbers>

namespace furrow::chebyshev {
namespace {

std::size_t place(index_t i) { return static_cast<std::size_t>(i); }

/// A step of halving: pairs at a distance of n / 2 become neighbours at a distance of `stride`.
void halve(const std::vector<complex_number>& x, std::vector<complex_number>& y,
           const std::vector<complex_number>& root, index_t stride) {
  const index_t n = static_cast<index_t>(x.size()), half = n / 2;
  for (index_t first = 0; first < half; first += stride) {
    const complex_number w = root[place(first)];
    for (index_t i = first; i < first + stride; ++i) {
      const complex_number a = x[place(i)], b = x[place(i + half)];
      y[place(i + first)] = a + b;
      y[place(i + first + stride)] = (a - b) * w;
    }
  }
}

void fourier_of_power_of_two(std::vector<complex_number>& x) {
  const auto n = static_cast<index_t>(x.size());
  std::vector<complex_number> y(x.size()), root(x.size() / 2);
  for (index_t k = 0; k < n / 2; ++k) root[place(k)] = root_of_unity(k, n);
  for (index_t stride = 1; stride < n; stride *= 2) {
    halve(x, y, root, stride);
    std::swap(x, y);
  }
}

void inverse_of_power_of_two(std::vector<complex_number>& x) {
  for (auto& v : x) v = v.conjugate();
  fourier_of_power_of_two(x);
  const double scale = 1 / static_cast<double>(x.size());
  for (auto& v : x) v = {v.re * scale, -v.im * scale};
}

/// exp(-pi i k^2 / n), with k^2 reduced modulo 2 n before it could overflow.
complex_number chirp(index_t k, index_t n) {
  __extension__ using wide = unsigned __int128;
  return root_of_unity(static_cast<index_t>(wide(k) * wide(k) % wide(2 * n)), 2 * n);
}

void fourier_of_any_length(std::vector<complex_number>& x) {
  const auto n = static_cast<index_t>(x.size());
  const std::size_t room = std::bit_ceil(2 * x.size() - 1);
  std::vector<complex_number> a(room), b(room);
  for (index_t k = 0; k < n; ++k) {
    const complex_number c = chirp(k, n);
    a[place(k)] = x[place(k)] * c;
    b[place(k)] = c.conjugate();
    if (k > 0) b[room - place(k)] = c.conjugate();
  }
  fourier_of_power_of_two(a);
  fourier_of_power_of_two(b);
  for (std::size_t k = 0; k < room; ++k) a[k] = a[k] * b[k];
  inverse_of_power_of_two(a);
  for (index_t k = 0; k < n; ++k) x[place(k)] = a[place(k)] * chirp(k, n);
}

} // namespace

complex_number root_of_unity(index_t k, index_t n) {
  const index_t octant = 8 * k / n;          // 8 k fits: series are far shorter than 2^60
  const auto turned = [&](index_t eighths) { // the angle 2 pi (k / n - eighths / 8), or its negative
    return 2 * std::numbers::pi * (static_cast<double>(8 * k - eighths * n) / (8 * static_cast<double>(n)));
  };
  double c = 0, s = 0; // cos and sin of 2 pi k / n
  const index_t quarter = (octant + 1) / 2;
  const double angle = turned(2 * quarter);
  switch (quarter % 4) {
  case 0:
    c = std::cos(angle), s = std::sin(angle);
    break;
  case 1:
    c = -std::sin(angle), s = std::cos(angle);
    break;
  case 2:
    c = -std::cos(angle), s = -std::sin(angle);
    break;
  default:
    c = std::sin(angle), s = -std::cos(angle);
  }
  return {c, -s};
}

void fourier(std::vector<complex_number>& x) {
  if (x.size() < 2) return;
  if (std::has_single_bit(x.size())) fourier_of_power_of_two(x);
  else fourier_of_any_length(x);
}

} // namespace furrow::chebyshev
