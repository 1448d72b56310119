// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <bit>
#include <cstdint>

/// Numbers of 16 bits as they lie in memory. They are for storage: arithmetic is done in f32, to which both convert
/// exactly; from f32 they round to the nearest, ties to even.
namespace furrow {

/// IEEE binary16: 11 significant bits, up to 65504.
struct half {
  std::uint16_t bits = 0;

  half() = default;
  explicit half(float value) : bits(rounded(value)) {}

  explicit operator float() const {
    const std::uint32_t sign = (bits & 0x8000u) << 16, magnitude = (bits & 0x7fffu) << 13;
    // The exponents are biased by 15 and by 127; the product also makes subnormal numbers normal. Infinity and NaN.
    const std::uint32_t scaled = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) * 0x1p112f);
    const std::uint32_t special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
    return std::bit_cast<float>(scaled | special | sign);
  }

private:
  static std::uint16_t rounded(float value) {
    const auto all = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = all >> 16 & 0x8000u, magnitude = all & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u); // 65520 and more
    if (magnitude < 0x38800000u) { // subnormal: the addition rounds at 2^-24
      const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
      return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u));
    }
    return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13));
  }
};

/// The upper half of a binary32: 8 significant bits, the range of f32.
struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  explicit bfloat16(float value) : bits(rounded(value)) {}

  explicit operator float() const { return std::bit_cast<float>(std::uint32_t(bits) << 16); }

private:
  static std::uint16_t rounded(float value) {
    const auto all = std::bit_cast<std::uint32_t>(value);
    if ((all & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(all >> 16 | 0x40u);
    return static_cast<std::uint16_t>((all + 0x7fffu + (all >> 16 & 1u)) >> 16);
  }
};

static_assert(sizeof(half) == 2 && sizeof(bfloat16) == 2);

} // namespace furrow
