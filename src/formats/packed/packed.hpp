// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "deltas.hpp"
#include "formats/sell/sell.hpp"

namespace furrow {

/// Where a slice lies. Slots are columns of a slice, of 32 places each.
struct packed_slice {
  index_t slot = 0;             ///< slots before this slice
  index_t word = 0;             ///< words a row before this slice
  std::int32_t width = 0;       ///< slots: entries of its longest row
  std::int32_t delta_bytes = 1; ///< 1, 2 or 4

  FURROW_HD index_t delta_words() const { return words_for(width, delta_bytes); }
};

/// sell with slices of 32 rows in fewer bytes, without loss. Entry k of a row has the column base[slot + k] + delta.
/// Word j of all rows of a slice lie side by side; a row's words hold its deltas, the first in the lowest bits, then,
/// where values are numbered, the numbers of its values, a byte each. Deltas behind the last entry are `no_entry`,
/// value numbers there are 0.
///
/// Values are stored as they are; or, where there are at most 256, numbered; or, where there is one, left out.
template <class V, template <class> class Array> struct packed {
  shape2 shape;
  Array<packed_slice> slice; ///< each begins where the one before ends
  Array<std::int32_t> row;   ///< row at each position, a permutation; empty where position p is row p
  Array<std::int32_t> base;  ///< the least column of each slot
  Array<std::uint32_t> word; ///< 32 x (words of the deltas, then of the value numbers) a slice
  Array<V> dictionary;       ///< the distinct values in the order of their bits; empty where values are stored
  Array<V> val;              ///< 32 a slot, 0 where there is no entry; empty where there is a dictionary

  template <template <class> class To, class F> packed<V, To> map(F f) const {
    return {shape, f(slice), f(row), f(base), f(word), f(dictionary), f(val)};
  }
};

/// How the values of a matrix are kept.
enum class packed_values { stored, numbered, one };

constexpr packed_values values_kept(index_t distinct) {
  return distinct == 0 ? packed_values::stored : distinct == 1 ? packed_values::one : packed_values::numbered;
}
template <class V> packed_values values_of(const packed<V, cview>& a) { return values_kept(a.dictionary.size); }
template <class V, template <class> class Array> packed_values values_of(const packed<V, Array>& a) {
  return values_kept(a.dictionary.size());
}

/// The number at `slot` of a group of four, whose words are given.
template <int Bytes> FURROW_HD std::uint32_t unpack(const std::uint32_t* words, int slot) {
  constexpr int each = 4 / Bytes; // numbers a word
  return words[slot / each] >> (8 * Bytes * (slot % each)) & no_entry(Bytes);
}

/// Where a row's next group of four slots lies, and what follows it.
template <class V> struct packed_place {
  const std::uint32_t *delta, *number;
  const std::int32_t* base;
  const V* val;
  int left; ///< slots of the slice from there on
};

/// sum += val * x of Batch groups of four slots, each `step` groups behind the one before, whose reads are under way at
/// once. Whole: the slice has all of these slots; otherwise those that it lacks count as padding.
template <int Batch, bool Whole, packed_values Values, int Bytes, class V>
FURROW_HD void add_groups(const packed_place<V>& p, int step, const V* dictionary, const V* x, V& sum) {
  constexpr int slots = 4 * Batch;
  std::uint32_t delta[Batch][Bytes], number[Batch];
  std::int32_t col[slots];
  V val[slots], element[slots];
  FURROW_UNROLL
  for (int j = 0; j < Batch; ++j) { // all that does not depend on anything else
    const int group = j * step;
    FURROW_UNROLL
    for (int w = 0; w < Bytes; ++w) {
      const bool in = Whole || 4 * group + w * (4 / Bytes) < p.left;
      delta[j][w] = in ? load_once(p.delta + (group * Bytes + w) * delta_rows) : 0xffffffffu;
    }
    if constexpr (Values == packed_values::numbered)
      number[j] = Whole || 4 * group < p.left ? load_once(p.number + group * delta_rows) : 0;
    FURROW_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int slot = 4 * group + i;
      const bool in = Whole || slot < p.left;
      col[4 * j + i] = in ? p.base[slot] : 0;
      if constexpr (Values == packed_values::stored) val[4 * j + i] = in ? load_once(p.val + slot * delta_rows) : V(0);
    }
  }
  FURROW_UNROLL
  for (int k = 0; k < slots; ++k) {
    const std::uint32_t above = unpack<Bytes>(delta[k / 4], k % 4);
    const bool in = above != no_entry(Bytes);
    element[k] = in ? x[col[k] + static_cast<std::int32_t>(above)] : V(0);
    if constexpr (Values == packed_values::numbered)
      val[k] = in ? dictionary[number[k / 4] >> (8 * (k % 4)) & 255] : V(0);
    if constexpr (Values == packed_values::one) val[k] = in ? dictionary[0] : V(0);
  }
  FURROW_UNROLL
  for (int k = 0; k < slots; ++k) sum += val[k] * element[k];
}

/// One lane's share of a row of slice `s`: every lane.size-th group of four slots from lane.rank on, Batch of them at
/// once.
template <int Batch, packed_values Values, int Bytes, class V>
FURROW_HD V partial_of_slice(lanes lane, const packed<V, cview>& a, const packed_slice& s, int inside, cview<V> x) {
  constexpr index_t words = delta_rows; // of one place in all rows
  const int step = lane.size, together = Batch * step;
  const std::uint32_t* const first = a.word.data + s.word * words + inside;
  packed_place<V> p{first + index_t(lane.rank) * Bytes * words, first + (s.delta_words() + lane.rank) * words,
                    a.base.data + s.slot + 4 * lane.rank, a.val.data, s.width - 4 * lane.rank};
  if constexpr (Values == packed_values::stored) p.val += (s.slot + 4 * lane.rank) * words + inside;
  V sum{};
  while (p.left >= 4 * (together - step) + 4) {
    add_groups<Batch, true, Values, Bytes>(p, step, a.dictionary.data, x.data, sum);
    p.delta += index_t(together) * Bytes * words;
    p.number += index_t(together) * words;
    p.base += 4 * together;
    if constexpr (Values == packed_values::stored) p.val += index_t(4 * together) * words;
    p.left -= 4 * together;
  }
  if (p.left > 0) add_groups<Batch, false, Values, Bytes>(p, step, a.dictionary.data, x.data, sum);
  return sum;
}

/// One lane's share of (A x)[row at `position`]. With one lane the entries are added in their order, as sell does it:
/// the bits are the same.
template <int Batch, packed_values Values, class V>
FURROW_HD V partial(lanes lane, const packed<V, cview>& a, index_t position, cview<V> x) {
  const packed_slice s = a.slice[position / delta_rows];
  const int inside = static_cast<int>(position % delta_rows);
  switch (s.delta_bytes) { // the same for a whole warp
  case 1:
    return partial_of_slice<Batch, Values, 1>(lane, a, s, inside, x);
  case 2:
    return partial_of_slice<Batch, Values, 2>(lane, a, s, inside, x);
  default:
    return partial_of_slice<Batch, Values, 4>(lane, a, s, inside, x);
  }
}

/// The same by number: the value at a slot of the row.
template <class V>
FURROW_HD V value_at(const packed<V, cview>& a, const packed_slice& s, index_t slot, int inside,
                     std::uint32_t numbers) {
  if (a.dictionary.size == 0) return load_once(a.val.data + (s.slot + slot) * delta_rows + inside);
  return a.dictionary[a.dictionary.size == 1 ? 0 : numbers >> (8 * (slot % 4)) & 255];
}
template <int Bytes, class V, class F>
FURROW_HD void each_entry_of_slice(lanes lane, const packed<V, cview>& a, const packed_slice& s, int inside, F f) {
  const std::uint32_t* const words = a.word.data + s.word * delta_rows + inside;
  for (int group = lane.rank; 4 * group < s.width; group += lane.size) {
    std::uint32_t delta[Bytes];
    FURROW_UNROLL
    for (int w = 0; w < Bytes; ++w) {
      const index_t at = index_t(group) * Bytes + w;
      delta[w] = at < s.delta_words() ? load_once(words + at * delta_rows) : 0xffffffffu;
    }
    const std::uint32_t numbers = a.dictionary.size > 1 ? load_once(words + (s.delta_words() + group) * delta_rows) : 0;
    FURROW_UNROLL
    for (int k = 0; k < 4; ++k) {
      const int slot = 4 * group + k;
      const std::uint32_t above = unpack<Bytes>(delta, k);
      if (slot >= s.width || above == no_entry(Bytes)) break;
      f(a.base[s.slot + slot] + static_cast<std::int32_t>(above), value_at(a, s, slot, inside, numbers));
    }
  }
}
/// f(column, value) for a lane's share of the row at a position.
template <class V, class F> FURROW_HD void each_entry(lanes lane, const packed<V, cview>& a, index_t position, F f) {
  const packed_slice s = a.slice[position / delta_rows];
  const int inside = static_cast<int>(position % delta_rows);
  if (s.delta_bytes == 1) each_entry_of_slice<1>(lane, a, s, inside, f);
  else if (s.delta_bytes == 2) each_entry_of_slice<2>(lane, a, s, inside, f);
  else each_entry_of_slice<4>(lane, a, s, inside, f);
}

} // namespace furrow
