// SPDX-License-Identifier: BSD-3-Clause
#include "cpu_packed.hpp"

#include "backends/cpu/isa.hpp"
#include "formats/sell/cpu_slices.hpp"

#include <algorithm>

namespace furrow::packed_slices {
namespace {

constexpr int height = delta_rows, together = 8;

/// Columns of `slots` slots from `first` on, -1 where there is no entry.
template <int Bytes>
FURROW_INLINE inline void unpack_columns(const std::uint32_t* words, const std::int32_t* base, index_t first,
                                         index_t slots, std::int32_t* col) {
  constexpr int each = 4 / Bytes;
  for (index_t k = first; k < first + slots; ++k, col += height) {
    const std::uint32_t* const from = words + k / each * height;
    const int shift = static_cast<int>(8 * Bytes * (k % each));
    const std::int32_t least = base[k];
#pragma omp simd
    for (int i = 0; i < height; ++i) {
      const std::uint32_t delta = from[i] >> shift & no_entry(Bytes);
      col[i] = delta == no_entry(Bytes) ? -1 : least + static_cast<std::int32_t>(delta);
    }
  }
}

template <class V>
FURROW_INLINE inline void look_up(const std::uint32_t* words, const V* dictionary, index_t first, index_t slots,
                                  const std::int32_t* col, V* val) {
  for (index_t k = first; k < first + slots; ++k, col += height, val += height) {
    const std::uint32_t* const from = words + k / 4 * height;
    const int shift = static_cast<int>(8 * (k % 4));
#pragma omp simd
    for (int i = 0; i < height; ++i) {
      const V value = dictionary[from[i] >> shift & 255];
      val[i] = col[i] < 0 ? V(0) : value;
    }
  }
}

/// add(col, val, slots) for eight slots at a time, unpacked.
template <int Bytes, class V, class Add>
void each_eight(const packed<V, cview>& a, const packed_slice& s, const Add& add) {
  alignas(64) std::int32_t col[together * height];
  alignas(64) V val[together * height];
  const std::uint32_t* const words = a.word.data + s.word * height;
  const std::int32_t* const base = a.base.data + s.slot;
  const auto how = values_of(a);
  for (index_t first = 0; first < s.width; first += together) {
    const index_t slots = std::min<index_t>(together, s.width - first);
    const V* from = val;
    cpu::widest([&]() FURROW_INLINE {
      unpack_columns<Bytes>(words, base, first, slots, col);
      if (how == packed_values::numbered)
        look_up(words + s.delta_words() * height, a.dictionary.data, first, slots, col, val);
      if (how == packed_values::one) {
        const V value = a.dictionary[0];
#pragma omp simd
        for (index_t i = 0; i < slots * height; ++i) val[i] = col[i] < 0 ? V(0) : value;
      }
    });
    if (how == packed_values::stored) from = a.val.data + (s.slot + first) * height;
    add(col, from, slots);
  }
}
template <class V, class Add> void unpack_slice(const packed<V, cview>& a, index_t slice, const Add& add) {
  const packed_slice& s = a.slice[slice];
  switch (s.delta_bytes) {
  case 1:
    return each_eight<1>(a, s, add);
  case 2:
    return each_eight<2>(a, s, add);
  default:
    return each_eight<4>(a, s, add);
  }
}

} // namespace

template <class V> void unpacked::sums(const packed<V, cview>& a, index_t slice, cview<V> x, V* out) {
  std::fill_n(out, height, V(0));
  unpack_slice(a, slice, [&](const std::int32_t* col, const V* val, index_t slots) {
    sell_slices::add_columns(col, val, slots, height, x.data, out);
  });
}

template <int W, class V> void unpacked::block_sums(const packed<V, cview>& a, index_t slice, const V* x, V* out) {
  std::fill_n(out, height * W, V(0));
  unpack_slice(a, slice, [&](const std::int32_t* col, const V* val, index_t slots) {
    sell_slices::add_columns_to_block<W>(col, val, slots, height, x, out);
  });
}

#define FURROW_UNPACKED(V)                                                                                             \
  template void unpacked::sums(const packed<V, cview>&, index_t, cview<V>, V*);                                        \
  template void unpacked::block_sums<2>(const packed<V, cview>&, index_t, const V*, V*);                               \
  template void unpacked::block_sums<4>(const packed<V, cview>&, index_t, const V*, V*);                               \
  template void unpacked::block_sums<8>(const packed<V, cview>&, index_t, const V*, V*);                               \
  template void unpacked::block_sums<16>(const packed<V, cview>&, index_t, const V*, V*);
FURROW_UNPACKED(double)
FURROW_UNPACKED(float)
#undef FURROW_UNPACKED

} // namespace furrow::packed_slices
