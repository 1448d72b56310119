// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>

/// The numbers that Furrow computes with. Whatever depends on which one it is asks here, so that another one is an
/// entry of this file and not a search for sizes.
namespace furrow {

enum class precision { f64, f32 };
constexpr double bytes_of(precision p) { return p == precision::f64 ? 8 : 4; }

/// A type without an entry here is an error where it is used.
template <class V> struct value_traits;
template <> struct value_traits<double> {
  static constexpr precision is = precision::f64;
  using bits = std::uint64_t;
  static constexpr double epsilon = 0x1p-52;
};
template <> struct value_traits<float> {
  static constexpr precision is = precision::f32;
  using bits = std::uint32_t;
  static constexpr float epsilon = 0x1p-23f;
};

template <class V> inline constexpr precision precision_of = value_traits<V>::is;
/// As wide as the sums, which are always in double.
template <class V> inline constexpr bool is_wide = precision_of<V> == precision::f64;
/// The same bits as an integer.
template <class V> using bits_of = typename value_traits<V>::bits;
/// The distance from 1 to the next number.
template <class V> inline constexpr V epsilon_of = value_traits<V>::epsilon;

/// The one of two that is for V: entries of tables, a function for each type.
template <class V, class F64, class F32> constexpr auto for_value(F64 f64, F32 f32) {
  if constexpr (is_wide<V>) return f64;
  else return f32;
}

} // namespace furrow
