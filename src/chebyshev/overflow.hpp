// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/chebyshev/product.hpp>

namespace furrow::chebyshev {

/// Throws `fault::input` where a coefficient of the "first" or "second" factor is not finite, naming it.
template <class V> void check_finite(const char* name, cview<V> a);

/// Works out anew, with the exponents of long double, each of the first coefficients c of the product a b that is not
/// finite: sums whose terms leave the range may have a value inside it. What lies outside becomes an infinity of its
/// sign. One pass over c where all are finite; a sum for each that is not. a and b must be finite.
template <class V> void mend_overflow(cview<V> a, cview<V> b, convention series, view<V> c);

} // namespace furrow::chebyshev
