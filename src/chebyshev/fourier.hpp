// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <vector>

namespace furrow::chebyshev {

struct complex_number {
  double re = 0, im = 0;
  friend complex_number operator+(complex_number a, complex_number b) { return {a.re + b.re, a.im + b.im}; }
  friend complex_number operator-(complex_number a, complex_number b) { return {a.re - b.re, a.im - b.im}; }
  friend complex_number operator*(complex_number a, complex_number b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  complex_number conjugate() const { return {re, -im}; }
};

/// exp(-2 pi i k / n), each worked out by itself and in the first eighth of the circle, so that no error adds up.
complex_number root_of_unity(index_t k, index_t n);

/// X_k = sum_j x_j exp(-2 pi i j k / n) in place, for every n: powers of two by halving (Stockham, O(n log n)), other
/// lengths through a convolution of a power of two (L. I. Bluestein 1970).
void fourier(std::vector<complex_number>& x);

} // namespace furrow::chebyshev
