// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "csr.hpp"

#include "backends/runs.hpp"

#include <algorithm>

/// The integers and the arithmetic of the `merge` kernel, which tests on the CPU play.
///
/// The merge path is one list of all entries and all ends of rows: the entries of row 0, its end, the entries of row 1,
/// its end, and so on (Merrill and Garland 2016). Row r's entries begin at item row_ptr[r] + r, its end is item
/// row_ptr[r + 1] + r. Tiles of equally many items cost the same, whatever the rows.
namespace furrow {

/// Rows whose end comes before item d: the row that item d belongs to.
template <class I> index_t row_of_item(const host_array<I>& row_ptr, index_t d) {
  index_t low = 0, high = row_ptr.size() - 1;
  while (low < high) {
    const index_t middle = low + (high - low) / 2;
    if (row_ptr[middle + 1] + middle < d) low = middle + 1;
    else high = middle;
  }
  return low;
}

/// The row that each tile of `items` items begins in; one element more than there are tiles, the last is the number of
/// rows.
template <class I> host_array<std::int32_t> cut_path(const host_array<I>& row_ptr, index_t items) {
  const index_t rows = row_ptr.size() - 1, length = row_ptr[rows] + rows, tiles = (length + items - 1) / items;
  host_array<std::int32_t> cut(tiles + 1);
  for (index_t t = 0; t < tiles; ++t) cut[t] = static_cast<std::int32_t>(row_of_item(row_ptr, t * items));
  cut[tiles] = static_cast<std::int32_t>(rows);
  return cut;
}

/// What a thread makes of its items: `head` of the row that ends first among them, `tail` behind the last end.
template <class V> struct walked {
  V head{}, tail{};
  int row = -1; ///< of the first end, counted from the tile's first row; -1: no row ends
  FURROW_HD run<V> left_over() const { return {tail, row >= 0}; }
};

/// Items [first, last) of a tile in which `rows` rows end: end(r) is the place of row r's end, ascending, and
/// product(k) the tile's k-th product. Calls finish(r, sum) for the rows that begin and end here; the first row that
/// ends may have begun in threads before, and is the caller's to finish.
template <class V, class End, class Product, class Finish>
FURROW_HD walked<V> walk_items(int first, int last, int rows, End end, Product product, Finish finish) {
  int row = 0; // rows that end before `first`
  for (int high = rows; row < high;) {
    const int middle = (row + high) / 2;
    if (end(middle) < first) row = middle + 1;
    else high = middle;
  }
  walked<V> mine;
  V sum{};
  int next = row < rows ? end(row) : last;
  for (int at = first; at < last; ++at) {
    if (at < next) {
      sum += product(at - row);
      continue;
    }
    if (mine.row < 0) {
      mine.row = row;
      mine.head = sum;
    } else {
      finish(row, sum);
    }
    sum = V(0);
    ++row;
    next = row < rows ? end(row) : last;
  }
  mine.tail = sum;
  return mine;
}

/// The carries that a tile works with. The row at the beginning of tile `t` is row first_row = cut[t].
struct carries {
  index_t from = 0;    ///< the tile where that row begins; t where it begins in t
  bool leaves = false; ///< whether a row that goes on in later tiles has items in this one
};

template <class I> FURROW_HD carries carries_of(index_t t, cview<I> row_ptr, cview<std::int32_t> cut, index_t items) {
  const index_t first_row = cut[t], last_row = cut[t + 1], rows = row_ptr.size - 1;
  carries c;
  const index_t begin = first_row < rows ? row_ptr[first_row] + first_row : t * items;
  c.from = begin < t * items ? begin / items : t;
  c.leaves = last_row < rows && row_ptr[last_row] + last_row < (t + 1) * items;
  return c;
}

} // namespace furrow
