// SPDX-License-Identifier: BSD-3-Clause
#include "single_precision.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/check.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

namespace furrow {
namespace {

constexpr double smallest = std::numeric_limits<float>::min(), largest = std::numeric_limits<float>::max();
constexpr double unit = std::numeric_limits<float>::epsilon() / 2;
constexpr index_t grain = 1 << 16;

/// 2^exponent as two factors, each of them in the range of double.
std::array<double, 2> power_of_two(int exponent) {
  return {std::ldexp(1.0, exponent / 2), std::ldexp(1.0, exponent - exponent / 2)};
}

bool overflows(double value, float narrow) { return !std::isfinite(narrow) && std::isfinite(value); }
bool vanishes(double value, float narrow) { return value != 0 && std::abs(narrow) < float(smallest); }

/// Throws for the first of the entries that have become too small and matter to their row or column.
void check_small_ones(const coo<double>& a, const host_array<float>& narrow, int exponent) {
  const auto side = [](index_t n) { return std::vector<double>(static_cast<std::size_t>(n), 0.0); };
  auto row_largest = side(a.shape.rows), col_largest = side(a.shape.cols);
  for (index_t k = 0; k < a.nnz(); ++k) {
    const double size = std::abs(a.val[k]);
    if (!std::isfinite(size)) continue;
    row_largest[a.row[k]] = std::max(row_largest[a.row[k]], size);
    col_largest[a.col[k]] = std::max(col_largest[a.col[k]], size);
  }
  for (index_t k = 0; k < a.nnz(); ++k) {
    if (!vanishes(a.val[k], narrow[k])) continue;
    const double beside = std::min(row_largest[a.row[k]], col_largest[a.col[k]]);
    check(a.row[k] != a.col[k] && std::abs(a.val[k]) <= unit * beside, fault::input,
          "entry ({}, {}) = {} is too small for single precision{}: use f64", a.row[k] + 1, a.col[k] + 1, a.val[k],
          exponent ? fmt::format(" beside the largest entry, about {:.0e}", std::ldexp(1.0, -exponent)) : "");
  }
}

} // namespace

int exponent_for_single_precision(cview<double> values) {
  double high = 0, low = std::numeric_limits<double>::infinity();
  std::mutex both;
  cpu::for_each_range(values.size, grain, [&](index_t first, index_t last) {
    double most = 0, least = std::numeric_limits<double>::infinity();
    for (index_t k = first; k < last; ++k) {
      const double size = std::abs(values[k]);
      if (size <= std::numeric_limits<double>::max()) most = std::max(most, size);
      if (size > 0) least = std::min(least, size);
    }
    const std::lock_guard lock(both);
    high = std::max(high, most);
    low = std::min(low, least);
  });
  return high == 0 || (high <= largest && low >= smallest) ? 0 : -std::ilogb(high);
}

host_array<float> values_in_single_precision(const coo<double>& a, int exponent) {
  const auto [half, rest] = power_of_two(exponent);
  host_array<float> narrow(a.nnz());
  std::atomic<bool> large = false, small = false;
  cpu::for_each_range(a.nnz(), grain, [&, half = half, rest = rest](index_t first, index_t last) {
    bool over = false, under = false;
    for (index_t k = first; k < last; ++k) {
      narrow[k] = static_cast<float>(a.val[k] * half * rest);
      over |= overflows(a.val[k], narrow[k]);
      under |= vanishes(a.val[k], narrow[k]);
    }
    if (over) large = true;
    if (under) small = true;
  });
  for (index_t k = 0; large && k < a.nnz(); ++k)
    check(!overflows(a.val[k], narrow[k]), fault::input,
          "entry ({}, {}) = {} is too large for single precision: use f64", a.row[k] + 1, a.col[k] + 1, a.val[k]);
  if (small) check_small_ones(a, narrow, exponent);
  return narrow;
}

coo<float> to_single_precision(coo<double>&& a, int exponent) {
  host_array<float> narrow = values_in_single_precision(a, exponent);
  a.val = {};
  return {a.shape, std::move(a.row), std::move(a.col), std::move(narrow)};
}

} // namespace furrow
