// SPDX-License-Identifier: BSD-3-Clause
#include "short_values.hpp"

#include "backends/cpu/isa.hpp"
#include "core/distinct.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

namespace furrow {
namespace {

constexpr index_t least = index_t(1) << 17;
constexpr index_t runs = 64, run = 64; ///< of values that are looked at

} // namespace

template <class V> short_values<V>::short_values(cview<V> values) {
  if (values.size < least) return;
  few_values<V> seen;
  bool few = true, single = std::is_same_v<V, double>;
  std::array<float, run> narrow{};
  for (index_t k = 0; k < runs && (few || single); ++k) {
    const V* const some = values.data + k * ((values.size - run) / (runs - 1));
    few = few && seen.add(some, run) && static_cast<std::size_t>(seen.count()) <= most;
    single = single && write_single(some, run, narrow.data());
  }
  if (few) {
    const auto all = seen.sorted();
    table_.fill(all.front());
    std::ranges::copy(all, table_.begin());
  }
  form_ = few ? form::numbers : single ? form::single : form::whole;
}

namespace {

/// As many at a time: numbers are made as wide as values, and narrowed behind that, for a loop with both in it has no
/// vectors.
constexpr index_t together = 64;

/// numbers <- which of the table's four each of `count` values is; what is not 0 where one is none.
template <class B>
inline FURROW_INLINE B numbers_of(const B* __restrict from, index_t count, const std::array<B, 4>& table,
                                  B* __restrict numbers) {
  const B a = table[0], b = table[1], c = table[2], d = table[3];
  B strangers = 0;
  for (index_t k = 0; k < count; ++k) {
    const B v = from[k];
    strangers |= (v == a || v == b || v == c || v == d) ? B(0) : B(1);
    numbers[k] = v == d ? B(3) : v == c ? B(2) : v == b ? B(1) : B(0);
  }
  return strangers;
}

template <class B>
inline FURROW_INLINE void narrow(const B* __restrict from, index_t count, std::uint8_t* __restrict to) {
  for (index_t k = 0; k < count; ++k) to[k] = static_cast<std::uint8_t>(from[k]);
}

} // namespace

template <class V> bool short_values<V>::write_numbers(const V* from, index_t count, std::uint8_t* to) const {
  using bits = bits_of<V>;
  bool fit = true;
  cpu::widest([&]() FURROW_INLINE {
    const auto table = std::bit_cast<std::array<bits, most>>(table_);
    const auto* const values = reinterpret_cast<const bits*>(from);
    std::array<bits, together> numbers;
    bits strangers = 0;
    index_t k = 0;
    for (; k + together <= count; k += together) {
      strangers |= numbers_of(values + k, together, table, numbers.data());
      narrow(numbers.data(), together, to + k);
    }
    strangers |= numbers_of(values + k, count - k, table, numbers.data());
    narrow(numbers.data(), count - k, to + k);
    fit = strangers == 0;
  });
  return fit;
}

template <class V> bool short_values<V>::write_single(const V* from, index_t count, float* to) {
  using bits = bits_of<V>;
  bits lost = 0;
  cpu::widest([&]() FURROW_INLINE {
    const V* __restrict const wide = from;
    float* __restrict const single = to;
    bits lost_here = 0;
    for (index_t k = 0; k < count; ++k) {
      const auto narrow = static_cast<float>(wide[k]);
      single[k] = narrow;
      lost_here |= std::bit_cast<bits>(static_cast<V>(narrow)) ^ std::bit_cast<bits>(wide[k]);
    }
    lost = lost_here;
  });
  return lost == 0;
}

template class short_values<double>;
template class short_values<float>;

} // namespace furrow
