// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/chebyshev/product.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace furrow::chebyshev {
namespace {

template <class V> void check_factor(const char* name, cview<V> a) {
  check(a.size > 0, fault::usage, std::string("the series ") + name + " is empty: it needs at least one coefficient");
  for (index_t i = 0; i < a.size; ++i)
    check(std::isfinite(a[i]), fault::input,
          "coefficient " + std::to_string(i) + " of the series " + name + " is not a finite number");
}

/// The factor in the primed convention, where the product is one sum over the even extensions.
template <class V> host_array<V> primed(cview<V> a, convention series) {
  host_array<V> p(a.size);
  std::copy(a.begin(), a.end(), p.begin());
  if (series == convention::plain) p[0] *= 2;
  return p;
}

} // namespace

template <class V> host_array<V> multiply(cview<V> a, cview<V> b, const product_options& options) {
  check_factor("a", a);
  check_factor("b", b);
  const index_t all = a.size + b.size - 1, keep = options.keep.value_or(all);
  check(keep > 0, fault::usage, "keep must be at least 1, not " + std::to_string(keep));
  const auto p = primed(a, options.series), q = primed(b, options.series);
  host_array<V> c(keep, V(0));
  for (index_t k = 0; k < std::min(keep, all); ++k) {
    V sum = 0;
    for (index_t i = std::max(1 - a.size, k - (b.size - 1)); i <= std::min(a.size - 1, k + b.size - 1); ++i)
      sum += p[std::abs(i)] * q[std::abs(k - i)];
    c[k] = sum / 2;
  }
  if (options.series == convention::plain) c[0] /= 2;
  return c;
}

template host_array<double> multiply(cview<double>, cview<double>, const product_options&);
template host_array<float> multiply(cview<float>, cview<float>, const product_options&);

} // namespace furrow::chebyshev
