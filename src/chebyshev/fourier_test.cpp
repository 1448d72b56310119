// SPDX-License-Identifier: BSD-3-Clause
#include "fourier.hpp"
#include "unity.hpp"

#include <furrow/device.hpp>

#include "kit/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <vector>

namespace furrow::chebyshev {
namespace {

using number = std::complex<long double>;

std::vector<number> slow_transform(const host_array<double>& x, int sign) {
  const index_t n = x.size() / 2;
  std::vector<number> roots, sums;
  for (index_t t = 0; t < n; ++t)
    roots.push_back(std::polar(1.0L, 2 * sign * std::numbers::pi_v<long double> * (long double)(t) / (long double)(n)));
  for (index_t k = 0; k < n; ++k) {
    number sum = 0;
    for (index_t j = 0; j < n; ++j) sum += number(x[2 * j], x[2 * j + 1]) * roots[std::size_t(j * k % n)];
    sums.push_back(sum);
  }
  return sums;
}

/// Small primes, larger ones, powers, what goes through vectors and what does not.
TEST(fourier, transforms_every_length_in_both_directions) {
  std::vector<index_t> lengths;
  for (index_t n = 1; n <= 40; ++n) lengths.push_back(n);
  for (const index_t n : {64, 101, 113, 121, 127, 2 * 131, 304, 343, 400, 509, 512, 1000, 1009, 1024, 1331, 1440, 2018})
    lengths.push_back(n);
  for (const index_t n : lengths) {
    const fourier_transform transform(n);
    const auto x = kit::random_vector<double>(2 * n, 1);
    double norm = 0;
    for (const double v : x) norm += v * v;
    const double bound = 0x1p-53 * std::sqrt(norm) * (8 * std::log2(double(n)) + 8);
    for (const int sign : {1, -1}) {
      auto work = x;
      host_array<double> room(transform.room());
      const double* const y =
          sign > 0 ? transform.plus(work.data(), room.data()) : transform.minus(work.data(), room.data());
      const auto truth = slow_transform(x, sign);
      for (index_t k = 0; k < n; ++k)
        ASSERT_LE(std::abs(number(y[2 * k], y[2 * k + 1]) - truth[std::size_t(k)]), bound) << k << " of " << n;
    }
  }
}

TEST(fourier, of_a_wave_is_one_number) {
  for (const index_t n : {40000, 100003}) { // shared by threads, the second as a convolution
    std::vector<complex_number> x;
    for (index_t j = 0; j < n; ++j) x.push_back(unit_root(3 * j % n, n));
    fourier(x);
    for (index_t k = 0; k < n; ++k) {
      ASSERT_NEAR(x[std::size_t(k)].re, k == 3 ? double(n) : 0, 1e-9) << k;
      ASSERT_NEAR(x[std::size_t(k)].im, 0, 1e-9) << k;
    }
  }
}

TEST(fourier, has_the_same_bits_for_every_number_of_threads) {
  for (const index_t n : {fourier_transform::alone, 2 * fourier_transform::alone, index_t(90000), index_t(40009)}) {
    const fourier_transform transform(n);
    const auto x = kit::random_vector<double>(2 * n, 1);
    host_array<double> room(transform.room()), one;
    for (const int threads : {1, 2, 3, 7}) {
      set_threads(threads);
      auto work = x;
      const double* const y = transform.minus(work.data(), room.data());
      if (threads == 1) {
        one.resize(2 * n);
        std::copy_n(y, 2 * n, one.data());
      }
      EXPECT_EQ(std::memcmp(one.data(), y, one.byte_count()), 0) << n << ", threads " << threads;
    }
    set_threads(0);
  }
}

} // namespace
} // namespace furrow::chebyshev
