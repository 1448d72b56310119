// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "complex_number.hpp"

#include <furrow/array.hpp>

#include <cmath>
#include <numbers>

namespace furrow::chebyshev {

/// e^(2 pi i t / n), rounded from long double.
inline complex_number unit_root(index_t t, index_t n) {
  const long double angle =
      2 * std::numbers::pi_v<long double> * static_cast<long double>(t) / static_cast<long double>(n);
  return {double(std::cos(angle)), double(std::sin(angle))};
}

/// Roots of unity of a large order from two tables of the size of its square root: one product each.
class root_table {
public:
  explicit root_table(index_t order) {
    while ((index_t(1) << (2 * shift_)) < order) ++shift_;
    const index_t low = index_t(1) << shift_, high = order / low + 1;
    low_.resize(low);
    high_.resize(high);
    for (index_t t = 0; t < low; ++t) low_[t] = unit_root(t, order);
    for (index_t t = 0; t < high; ++t) high_[t] = unit_root(t * low, order);
  }
  /// e^(2 pi i t / order), 0 <= t < order.
  complex_number operator()(index_t t) const { return high_[t >> shift_] * low_[t & ((index_t(1) << shift_) - 1)]; }
  double bytes() const { return double(low_.byte_count() + high_.byte_count()); }

private:
  int shift_ = 0;
  host_array<complex_number> low_, high_;
};

} // namespace furrow::chebyshev
