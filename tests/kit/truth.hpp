// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>

#include <vector>

/// What a solver is held against: long double, slow, simple.
namespace furrow::kit {

/// A x = b by the Cholesky factors of the dense matrix. Throws std::domain_error unless `a` is positive definite.
std::vector<long double> cholesky_solve(const coo<double>& a, cview<double> b);

/// |b - A x| and |b|, with the part of the former that rounding in a product of precision V may hide.
struct residual {
  long double norm = 0, norm_b = 0, rounding = 0;
};
template <class V> residual true_residual(const coo<V>& a, cview<V> b, cview<V> x);

/// Largest |x - y| / largest |y|.
template <class V> long double relative_error(cview<V> x, const std::vector<long double>& y);

} // namespace furrow::kit
