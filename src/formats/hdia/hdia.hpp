// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "formats/sell/sell.hpp"
#include "strips.hpp"

namespace furrow {

/// Hacked diagonals: in each slice of 16 rows, the diagonals that are full enough there (strips), and what lies
/// beside them in sell. One definition, three storages: host_array, gpu_array, cview. S. Filippone, V. Cardellini,
/// D. Barbieri and A. Fanfarillo 2017, section 3.4, where all entries lie in strips.
///
/// A place of a strip holds an entry or 0. As in dia, a product multiplies every place inside the matrix by its element
/// of x and reads no x outside: with finite x the zeros change no bit; an infinity or a NaN in x reaches every row that
/// a strip crosses there, so it may spread but never hides.
template <class V, template <class> class Array> struct hdia {
  shape2 shape;
  Array<index_t> strip_ptr;   ///< slices + 1 numbers of strips; from 0 on, non-decreasing
  Array<std::int32_t> offset; ///< column minus row of each strip; ascending inside a slice
  Array<V> val;               ///< A[row, row + offset[k]] at 16 k + row % 16; 0 outside the matrix
  sell<V, Array> rest;        ///< of height 16, the rows in their order

  template <template <class> class To, class F> hdia<V, To> map(F f) const {
    return {shape, f(strip_ptr), f(offset), f(val), rest.template map<To>(f)};
  }
};

template <class V> FURROW_HD index_t row_at(const hdia<V, cview>&, index_t position) { return position; }

/// One lane's share of (A x)[row]: every lane.size-th strip from lane.rank on, eight under way at once, and of the
/// rest.
template <class V> FURROW_HD V partial(lanes lane, const hdia<V, cview>& a, index_t row, cview<V> x) {
  const auto slice = static_cast<std::uint32_t>(row) / strip_height;
  const index_t inside = row % strip_height, end = a.strip_ptr[slice + 1];
  V sum{};
  for (index_t k = a.strip_ptr[slice] + lane.rank; k < end; k += index_t(sell_batch) * lane.size) {
    V val[sell_batch], element[sell_batch];
    FURROW_UNROLL
    for (int j = 0; j < sell_batch; ++j) {
      const index_t strip = k + index_t(j) * lane.size;
      const bool has = strip < end;
      val[j] = has ? load_once(a.val.data + strip * strip_height + inside) : V(0);
      const index_t col = has ? row + a.offset[strip] : -1;
      element[j] = col >= 0 && col < a.shape.cols ? x[col] : V(0);
    }
    FURROW_UNROLL
    for (int j = 0; j < sell_batch; ++j) sum += val[j] * element[j];
  }
  return sum + partial<int(strip_height)>(lane, a.rest, row, x);
}

} // namespace furrow
