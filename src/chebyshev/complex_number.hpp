// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

namespace furrow::chebyshev {

struct complex_number {
  double re = 0, im = 0;
  FURROW_HD constexpr complex_number conjugate() const { return {re, -im}; }
};
FURROW_HD constexpr complex_number operator+(complex_number a, complex_number b) { return {a.re + b.re, a.im + b.im}; }
FURROW_HD constexpr complex_number operator-(complex_number a, complex_number b) { return {a.re - b.re, a.im - b.im}; }
FURROW_HD constexpr complex_number operator*(complex_number a, complex_number b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

} // namespace furrow::chebyshev
