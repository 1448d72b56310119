// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/distinct.hpp"
#include "core/parameters.hpp"
#include "formats/csr/convert.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace furrow {
namespace {

constexpr index_t height = delta_rows;

/// Adds `number` of `bytes` bytes at `slot` of a row, whose first word is given and is 0 there.
void pack(std::uint32_t* words, int bytes, index_t slot, std::uint32_t number) {
  const index_t each = 4 / bytes;
  words[slot / each * height] |= number << (8 * bytes * (slot % each));
}

template <class V> index_t position_of_value(const std::vector<V>& sorted, V value) {
  using bits = typename few_values<V>::bits;
  const auto less = [](V a, V b) { return std::bit_cast<bits>(a) < std::bit_cast<bits>(b); };
  return std::lower_bound(sorted.begin(), sorted.end(), value, less) - sorted.begin();
}

/// The rows of the triplets, found by position.
template <class V> struct row_source {
  const coo<V>& a;
  const host_array<index_t>& row_ptr;
  const host_array<std::int32_t>& order;

  struct span {
    index_t begin, count;
  };
  span at(index_t position) const {
    if (position >= a.shape.rows) return {0, 0};
    const index_t row = order.empty() ? position : order[position];
    return {row_ptr[row], row_ptr[row + 1] - row_ptr[row]};
  }
};

/// Bases of a slice, and how many bytes its deltas take.
template <class V> int find_bases(const row_source<V>& rows, index_t slice, index_t width, std::int32_t* base) {
  std::fill_n(base, width, std::numeric_limits<std::int32_t>::max());
  for (index_t p = slice * height; p < (slice + 1) * height; ++p) {
    const auto row = rows.at(p);
    for (index_t k = 0; k < row.count; ++k) base[k] = std::min(base[k], rows.a.col[row.begin + k]);
  }
  index_t largest = 0;
  for (index_t p = slice * height; p < (slice + 1) * height; ++p) {
    const auto row = rows.at(p);
    for (index_t k = 0; k < row.count; ++k) largest = std::max(largest, index_t(rows.a.col[row.begin + k]) - base[k]);
  }
  return delta_bytes_for(largest);
}

template <class V>
void fill_slice(const row_source<V>& rows, packed<V, host_array>& made, index_t slice,
                const std::vector<V>& dictionary) {
  const packed_slice& s = made.slice[slice];
  const bool stored = dictionary.empty(), numbered = dictionary.size() > 1;
  const index_t delta_words = s.delta_words(), words = delta_words + (numbered ? words_for(s.width, 1) : 0);
  std::uint32_t* const first = made.word.data() + s.word * height;
  std::fill_n(first, words * height, 0);
  if (stored) std::fill_n(made.val.data() + s.slot * height, index_t(s.width) * height, V(0));
  const index_t slots = delta_words * 4 / s.delta_bytes; // of whole words
  for (index_t inside = 0; inside < height; ++inside) {
    const auto row = rows.at(slice * height + inside);
    for (index_t k = 0; k < slots; ++k) {
      if (k >= row.count) {
        pack(first + inside, s.delta_bytes, k, no_entry(s.delta_bytes));
        continue;
      }
      const auto delta = static_cast<std::uint32_t>(rows.a.col[row.begin + k] - made.base[s.slot + k]);
      pack(first + inside, s.delta_bytes, k, delta);
      const V value = rows.a.val[row.begin + k];
      if (stored) made.val[(s.slot + k) * height + inside] = value;
      if (numbered)
        pack(first + delta_words * height + inside, 1, k,
             static_cast<std::uint32_t>(position_of_value(dictionary, value)));
    }
  }
}

} // namespace

index_t packed_format::read_parameters(std::string_view parameters) {
  const entry_parameters given(usage, parameters);
  const index_t window = given.whole(0, 0, 1, 1 << 20);
  const bool power = std::has_single_bit(static_cast<std::uint64_t>(window));
  if (given.has(0) && window != 1 && (!power || window < height))
    given.refuse("WINDOW must be 1, or a power of two from 32 on");
  return window;
}

template <class V> packed<V, host_array> to_packed(coo<V> a, index_t window) {
  const auto row_ptr = row_offsets(a);
  a.row = {};
  const auto length = lengths_of(row_ptr);
  const slicing how = window ? slicing{height, window} : best_slicing(length, height, sizeof(V) + 1);
  packed<V, host_array> made;
  made.shape = a.shape;
  made.row = sorted_rows(length, how);
  const row_source<V> rows{a, row_ptr, made.row};
  const auto place_ptr = offsets_of_slices(length, made.row, height);
  const index_t slices = place_ptr.size() - 1, places = place_ptr[slices];
  auto dictionary = distinct_values(as_cview(a.val));
  if (!packed_format::numbers_pay(static_cast<index_t>(dictionary.size()), double(places), sizeof(V)))
    dictionary.clear();
  made.dictionary = host_array<V>(static_cast<index_t>(dictionary.size()));
  std::copy(dictionary.begin(), dictionary.end(), made.dictionary.begin());

  made.slice = host_array<packed_slice>(slices);
  made.base = host_array<std::int32_t>(places / height);
  cpu::for_each_range(slices, 64, [&](index_t first, index_t last) {
    for (index_t s = first; s < last; ++s) {
      const index_t slot = place_ptr[s] / height, width = place_ptr[s + 1] / height - slot;
      const int bytes = find_bases(rows, s, width, made.base.data() + slot);
      made.slice[s] = {slot, 0, static_cast<std::int32_t>(width), bytes};
    }
  });
  index_t words = 0;
  for (packed_slice& s : made.slice) {
    s.word = words;
    words += s.delta_words() + (dictionary.size() > 1 ? words_for(s.width, 1) : 0);
  }
  made.word = host_array<std::uint32_t>(words * height);
  made.val = host_array<V>(dictionary.empty() ? places : 0);
  cpu::for_each_range(slices, 64, [&](index_t first, index_t last) {
    for (index_t s = first; s < last; ++s) fill_slice(rows, made, s, dictionary);
  });
  return made;
}

template <class V> decoded<V> entry_at(const packed<V, host_array>& a, index_t slice, index_t slot, int inside) {
  const packed_slice& s = a.slice[slice];
  const std::uint32_t* const first = a.word.data() + s.word * height + inside;
  const auto number = [&](index_t from, int bytes) {
    const index_t each = 4 / bytes;
    return first[(from + slot / each) * height] >> (8 * bytes * (slot % each)) & no_entry(bytes);
  };
  const std::uint32_t delta = number(0, s.delta_bytes);
  if (delta == no_entry(s.delta_bytes)) return {-1, V(0)};
  const auto col = static_cast<std::int32_t>(a.base[s.slot + slot] + index_t(delta));
  switch (values_of(a)) {
  case packed_values::one:
    return {col, a.dictionary[0]};
  case packed_values::numbered:
    return {col, a.dictionary[number(s.delta_words(), 1)]};
  default:
    return {col, a.val[(s.slot + slot) * height + inside]};
  }
}

template <class V> coo<V> to_coo(const packed<V, host_array>& a) {
  const index_t rows = a.shape.rows;
  const auto entries = [&](index_t position, auto&& each) {
    const index_t slice = position / height;
    index_t k = 0;
    for (; k < a.slice[slice].width; ++k) {
      const auto e = entry_at(a, slice, k, static_cast<int>(position % height));
      if (e.col < 0) break;
      each(k, e);
    }
    return k;
  };
  host_array<index_t> row_ptr(rows + 1, 0);
  cpu::for_each_range(rows, 1 << 12, [&](index_t first, index_t last) {
    for (index_t p = first; p < last; ++p) row_ptr[row_at(a, p) + 1] = entries(p, [](index_t, decoded<V>) {});
  });
  for (index_t r = 0; r < rows; ++r) row_ptr[r + 1] += row_ptr[r];
  const index_t nnz = row_ptr[rows];
  coo<V> result{a.shape, host_array<std::int32_t>(nnz), host_array<std::int32_t>(nnz), host_array<V>(nnz)};
  cpu::for_each_range(rows, 1 << 12, [&](index_t first, index_t last) {
    for (index_t p = first; p < last; ++p) {
      const index_t row = row_at(a, p);
      entries(p, [&](index_t k, decoded<V> e) {
        result.row[row_ptr[row] + k] = static_cast<std::int32_t>(row);
        result.col[row_ptr[row] + k] = e.col;
        result.val[row_ptr[row] + k] = e.val;
      });
    }
  });
  return result;
}

#define FURROW_PACKED(V)                                                                                               \
  template packed<V, host_array> to_packed(coo<V>, index_t);                                                           \
  template coo<V> to_coo(const packed<V, host_array>&);                                                                \
  template decoded<V> entry_at(const packed<V, host_array>&, index_t, index_t, int);
FURROW_PACKED(double)
FURROW_PACKED(float)
#undef FURROW_PACKED

} // namespace furrow
