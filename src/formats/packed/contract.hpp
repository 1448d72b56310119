// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "convert.hpp"

#include "formats/sell/contract.hpp"

#include <furrow/value.hpp>

#include <bit>

namespace furrow {

namespace packed_contract {

/// Where the slices lie.
template <class V> std::string of_slices(const packed<V, host_array>& a) {
  const index_t slices = (a.shape.rows + delta_rows - 1) / delta_rows;
  if (a.slice.size() != slices) return fmt::format("{} slices for {} rows", a.slice.size(), a.shape.rows);
  const auto how = values_of(a);
  index_t slot = 0, word = 0;
  for (index_t k = 0; k < slices; ++k) { // all of them before the first is followed
    const packed_slice& s = a.slice[k];
    if (s.slot != slot || s.word != word) return fmt::format("slice {} does not begin where the one before ends", k);
    if (s.width < 0) return fmt::format("slice {} has the width {}", k, s.width);
    if (s.delta_bytes != 1 && s.delta_bytes != 2 && s.delta_bytes != 4)
      return fmt::format("slice {} has deltas of {} bytes", k, s.delta_bytes);
    slot += s.width;
    word += s.delta_words() + (how == packed_values::numbered ? words_for(s.width, 1) : 0);
  }
  if (a.base.size() != slot) return fmt::format("{} bases for {} slots", a.base.size(), slot);
  if (a.word.size() != word * delta_rows)
    return fmt::format("{} words instead of {}", a.word.size(), word * delta_rows);
  const index_t values = how == packed_values::stored ? slot * delta_rows : 0;
  if (a.val.size() != values) return fmt::format("{} values instead of {}", a.val.size(), values);
  return {};
}

template <class V> std::string of_dictionary(const host_array<V>& dictionary) {
  using bits = bits_of<V>;
  if (dictionary.size() > 256) return fmt::format("the dictionary has {} values", dictionary.size());
  for (index_t k = 1; k < dictionary.size(); ++k)
    if (std::bit_cast<bits>(dictionary[k - 1]) >= std::bit_cast<bits>(dictionary[k]))
      return fmt::format("value {} of the dictionary is not above the one before", k);
  return {};
}

/// The row at a position; counts entries of each slot in `used`.
template <class V> std::string of_row(const packed<V, host_array>& a, index_t position, std::vector<index_t>& used) {
  const index_t k = position / delta_rows;
  const packed_slice& s = a.slice[k];
  const int inside = static_cast<int>(position % delta_rows);
  const std::uint32_t* const first = a.word.data() + s.word * delta_rows + inside;
  const auto number = [&](index_t from, int bytes, index_t slot) {
    const index_t each = 4 / bytes;
    return first[(from + slot / each) * delta_rows] >> (8 * bytes * (slot % each)) & no_entry(bytes);
  };
  std::int32_t before = -1;
  bool ended = position >= a.shape.rows;
  for (index_t slot = 0; slot < s.delta_words() * 4 / s.delta_bytes; ++slot) {
    const std::uint32_t delta = number(0, s.delta_bytes, slot);
    if (delta == no_entry(s.delta_bytes)) {
      ended = true;
      if (slot < s.width && !a.val.empty()) {
        const V padding = a.val[(s.slot + slot) * delta_rows + inside];
        if (padding != V(0) || std::signbit(padding)) return fmt::format("position {}: padding has a value", position);
      }
      continue;
    }
    if (ended || slot >= s.width) return fmt::format("position {} has an entry behind its padding", position);
    const index_t col = a.base[s.slot + slot] + index_t(delta);
    if (a.base[s.slot + slot] < 0 || col >= a.shape.cols)
      return fmt::format("position {} has column {}", position, col);
    if (col <= before) return fmt::format("position {}: column {} follows {}", position, col, before);
    before = static_cast<std::int32_t>(col);
    ++used[static_cast<std::size_t>(s.slot + slot)];
  }
  if (values_of(a) == packed_values::numbered)
    for (index_t slot = 0; slot < words_for(s.width, 1) * 4; ++slot) {
      const bool in = slot < s.width && number(0, s.delta_bytes, slot) != no_entry(s.delta_bytes);
      if (const auto n = number(s.delta_words(), 1, slot); n >= (in ? a.dictionary.size() : 1))
        return fmt::format("position {} has value number {}", position, n);
    }
  return {};
}

} // namespace packed_contract

/// The first promise of packed.hpp that `a` breaks, or nothing.
template <class V> std::string violation(const packed<V, host_array>& a) {
  if (auto wrong = packed_contract::of_dictionary(a.dictionary); !wrong.empty()) return wrong;
  if (auto wrong = packed_contract::of_slices(a); !wrong.empty()) return wrong;
  if (!is_order_of_rows(a.row, a.shape.rows)) return "the rows at the positions are no permutation";
  std::vector<index_t> used(static_cast<std::size_t>(a.base.size()), 0);
  for (index_t position = 0; position < a.slice.size() * delta_rows; ++position)
    if (auto wrong = packed_contract::of_row(a, position, used); !wrong.empty()) return wrong;
  for (std::size_t slot = 0; slot < used.size(); ++slot)
    if (used[slot] == 0) return fmt::format("slot {} has no entry", slot);
  return {};
}

} // namespace furrow
