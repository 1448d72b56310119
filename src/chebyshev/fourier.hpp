// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "unity.hpp"

#include <vector>

namespace furrow::chebyshev {

/// X_k = sum_j x_j exp(-2 pi i j k / n) in place, for every n, O(n log n): lengths of eight times 2^a 3^b 5^c at once,
/// others through a convolution of such a length (L. I. Bluestein 1970).
void fourier(std::vector<complex_number>& x);

} // namespace furrow::chebyshev
