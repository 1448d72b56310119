// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "packed.hpp"

#include "formats/sell/slicing.hpp"

#include <furrow/coo.hpp>

namespace furrow {

/// From triplets, rows sorted inside windows of `window` (1: not at all; 0: as suits them best). Holds both matrices at
/// its peak. Parallel.
template <class V> packed<V, host_array> to_packed(coo<V> a, index_t window);
template <class V> coo<V> to_coo(const packed<V, host_array>& a);

/// An entry, decoded: column -1 where there is none.
template <class V> struct decoded {
  std::int32_t col;
  V val;
};
template <class V> decoded<V> entry_at(const packed<V, host_array>& a, index_t slice, index_t slot, int inside);

namespace packed_format {
inline constexpr std::string_view usage = "packed[:WINDOW]";
/// The window as asked for, 0 where it is to be chosen. Throws `fault::usage`.
index_t read_parameters(std::string_view parameters);
/// Whether numbers of values take fewer bytes than values, where there are `distinct` of them.
constexpr bool numbers_pay(index_t distinct, double places, double value_bytes) {
  if (distinct == 1) return true;
  return distinct > 1 && distinct <= 256 && places + double(distinct) * value_bytes < places * value_bytes;
}
} // namespace packed_format

} // namespace furrow
