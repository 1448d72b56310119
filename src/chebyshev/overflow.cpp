// SPDX-License-Identifier: BSD-3-Clause
#include "overflow.hpp"

#include "arithmetic.hpp"

#include "backends/cpu/all_finite.hpp"
#include "backends/cpu/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace furrow::chebyshev {
namespace {

using wide = long double;
static_assert(std::numeric_limits<wide>::max_exponent > 2 * std::numeric_limits<double>::max_exponent + 64);

template <class V> std::vector<wide> widened(cview<V> a) { return {a.begin(), a.end()}; }

} // namespace

template <class V> void mend_overflow(cview<V> a, cview<V> b, convention series, view<V> c) {
  if (cpu::all_finite(as_cview(c))) return;
  const std::vector<wide> x = widened(a), y = widened(b);
  const factor<wide> p = factor_of(x.data(), a.size, series), q = factor_of(y.data(), b.size, series);
  cpu::for_each_range(std::min(c.size, a.size + b.size - 1), 16, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k)
      if (!std::isfinite(c[k])) c[k] = static_cast<V>(coefficient_of(partial(lanes{0, 1}, p, q, k), k, series));
  });
}

template void mend_overflow(cview<double>, cview<double>, convention, view<double>);
template void mend_overflow(cview<float>, cview<float>, convention, view<float>);

} // namespace furrow::chebyshev
