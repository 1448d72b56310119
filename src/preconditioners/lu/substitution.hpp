// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/coo.hpp>
#include <furrow/operator.hpp>

#include <memory>
#include <string_view>

namespace furrow::lu {

/// The name of factors in such an order; no person can ask for it.
inline constexpr std::string_view triangle = "triangle";

/// M = A^-1 by substitution where rows and columns in some order make a triangle of A, and null elsewhere. Pivots that
/// are the largest of their columns leave the diagonal of a triangle, and make the last ones of rounding where the
/// entries beside it are large; substitution has an error of rounding in each entry of A (N. J. Higham, Accuracy and
/// Stability of Numerical Algorithms, 2002, 8.1), so that x is as good as cond(A, x) lets it be. It knows its condition
/// number, and amplifies errors.
template <class V> std::unique_ptr<any_preconditioner<V>> substitution(const coo<V>& a);

} // namespace furrow::lu
