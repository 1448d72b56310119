// SPDX-License-Identifier: BSD-3-Clause
#include "inverse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace furrow::block_jacobi_preconditioner {

bool is_definite(view<const double> block, index_t k, view<double> scratch) {
  std::copy(block.begin(), block.end(), scratch.begin());
  for (index_t i = 0; i < k; ++i)
    for (index_t j = 0; j <= i; ++j) {
      double sum = scratch[i * k + j];
      for (index_t l = 0; l < j; ++l) sum -= scratch[i * k + l] * scratch[j * k + l];
      if (j < i) scratch[i * k + j] = sum / scratch[j * k + j];
      else if (!(sum > 0)) return false;
      else scratch[i * k + i] = std::sqrt(sum);
    }
  return true;
}

bool invert(view<double> block, index_t k) {
  double largest = 0;
  for (const double v : block) largest = std::max(largest, std::abs(v));
  constexpr index_t usual = 64;
  std::array<index_t, usual> few{};
  std::vector<index_t> many(k > usual ? static_cast<std::size_t>(k) : 0);
  index_t* const pivot_row = many.empty() ? few.data() : many.data();
  for (index_t p = 0; p < k; ++p) {
    index_t best = p;
    for (index_t i = p + 1; i < k; ++i)
      if (std::abs(block[i * k + p]) > std::abs(block[best * k + p])) best = i;
    if (!(std::abs(block[best * k + p]) > 1e-14 * largest)) return false;
    pivot_row[p] = best;
    std::swap_ranges(block.data + p * k, block.data + (p + 1) * k, block.data + best * k);
    const double inverse = 1 / block[p * k + p];
    block[p * k + p] = 1;
    for (index_t j = 0; j < k; ++j) block[p * k + j] *= inverse;
    for (index_t i = 0; i < k; ++i) {
      if (i == p) continue;
      const double factor = block[i * k + p];
      block[i * k + p] = 0;
      for (index_t j = 0; j < k; ++j) block[i * k + j] -= factor * block[p * k + j];
    }
  }
  for (index_t p = k - 1; p >= 0; --p) // rows were swapped: so are the columns of the inverse
    for (index_t i = 0; i < k && pivot_row[p] != p; ++i) std::swap(block[i * k + p], block[i * k + pivot_row[p]]);
  return true;
}

} // namespace furrow::block_jacobi_preconditioner
