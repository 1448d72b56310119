// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/chebyshev/product.hpp>

#include <vector>

/// Products of Chebyshev series against the definition in long double, and the cases that every algorithm must pass.
namespace furrow::kit {

struct chebyshev_case {
  const char* name;
  host_array<double> a, b;
};
/// Lengths from 1 to beyond a tile of any kernel, equal and not, both ways; values of one size, decaying, growing.
std::vector<chebyshev_case> chebyshev_battery(index_t longest);

/// c and (|a| * |b|) by T_i T_j = (T_{i+j} + T_{|i-j|}) / 2, term by term.
struct chebyshev_truth {
  std::vector<long double> value, size;
};
template <class V>
chebyshev_truth multiply_in_long_double(cview<V> a, cview<V> b, chebyshev::convention series, index_t keep);

/// Holds c to what `how` promises: componentwise for the sums, normwise for the transforms. A coefficient that is not
/// finite must be an infinity, where the truth is no number of V.
template <class V>
void expect_product(cview<V> a, cview<V> b, cview<V> c, const chebyshev::product_options& options,
                    chebyshev::algorithm how);

/// The battery, both conventions, all and the first few coefficients, through `multiply`.
template <class V> void check_products(chebyshev::algorithm how, device where, index_t longest);
/// The known products; those of the sums must be exact to the bit.
template <class V> void check_known_products(chebyshev::algorithm how, device where);
/// Factors near the ends of the range of V.
template <class V> void check_scaled_products(chebyshev::algorithm how, device where);
/// Factors whose products, or terms of them, leave the range of V at either end.
template <class V> void check_extreme_products(chebyshev::algorithm how, device where);
/// Series side by side with gaps between them, one factor for all, a fixed factor; the same bits again and again.
/// Array: where. What lies between the results stays as it was.
template <class V, template <class> class Array> void check_batches(chebyshev::algorithm how, device where);

} // namespace furrow::kit
