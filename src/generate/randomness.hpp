// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <bit>
#include <cstdint>

/// Random numbers that are a function of (seed, place): no state, so rows can be made in any order by any number of
/// threads. Integer arithmetic only, and products by powers of two: the same bits on every machine.
namespace furrow {

/// The finaliser of splitmix64 (G. L. Steele, D. Lea, C. H. Flood, Fast splittable pseudorandom number generators,
/// 2014). A bijection of 64 bits.
FURROW_HD constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// [0, 1), a multiple of 2^-53.
FURROW_HD constexpr double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// [0, n) for 0 < n <= 2^32.
constexpr index_t below(std::uint64_t bits, index_t n) {
  return static_cast<index_t>(((bits >> 32) * static_cast<std::uint64_t>(n)) >> 32);
}

/// Independent bits at every (i, j).
struct randomness {
  std::uint64_t key = 0;
  FURROW_HD explicit constexpr randomness(std::uint64_t seed) : key(mix(seed)) {}
  FURROW_HD constexpr std::uint64_t at(index_t i, index_t j = 0) const {
    return mix(mix(key ^ static_cast<std::uint64_t>(i)) + static_cast<std::uint64_t>(j));
  }
};

/// A random permutation of [0, n), n <= 2^32, and its inverse; nothing is stored but three odd factors.
/// On the next power of two: rounds of x <- (x * odd + c) ^ (same >> half), each of which can be undone; numbers beyond
/// n are permuted again until they fall inside ("cycle walking": fewer than two rounds on average).
class permutation {
public:
  constexpr permutation(index_t n, std::uint64_t key) : n_(static_cast<std::uint64_t>(n)) {
    const int bits = n > 1 ? static_cast<int>(std::bit_width(n_ - 1)) : 1;
    mask_ = (std::uint64_t(1) << bits) - 1;
    half_ = (bits + 1) / 2;
    for (int k = 0; k < rounds; ++k) {
      factor_[k] = mix(key + static_cast<std::uint64_t>(2 * k)) | 1;
      offset_[k] = mix(key + static_cast<std::uint64_t>(2 * k + 1));
      inverse_[k] = factor_[k]; // right in the last 3 bits; each step of Newton's method doubles them
      for (int step = 0; step < 5; ++step) inverse_[k] *= 2 - factor_[k] * inverse_[k];
    }
  }

  constexpr index_t operator()(index_t i) const {
    auto x = static_cast<std::uint64_t>(i);
    do {
      for (int k = 0; k < rounds; ++k) {
        x = (x * factor_[k] + offset_[k]) & mask_;
        x ^= x >> half_;
      }
    } while (x >= n_);
    return static_cast<index_t>(x);
  }

  constexpr index_t inverse(index_t i) const {
    auto x = static_cast<std::uint64_t>(i);
    do {
      for (int k = rounds; k-- > 0;) {
        x ^= x >> half_;
        x = ((x - offset_[k]) * inverse_[k]) & mask_;
      }
    } while (x >= n_);
    return static_cast<index_t>(x);
  }

private:
  static constexpr int rounds = 3;
  std::uint64_t n_, mask_ = 0, factor_[rounds]{}, offset_[rounds]{}, inverse_[rounds]{};
  int half_ = 0;
};

} // namespace furrow
