// SPDX-License-Identifier: BSD-3-Clause
#include "rows_apart.hpp"

#include "backends/gpu/primitives.hpp"
#include "matrix/gpu_diagonals.hpp"

#include <numeric>
#include <utility>

namespace furrow {
namespace gpu_apart {

/// Entries of a row in columns [first, last), whose places in the own block these are.
template <class V> struct own_entries {
  csr<V, index_t, cview> a;
  index_t first, last;
  std::int32_t* col = nullptr;
  V* val = nullptr;
  FURROW_HD bool passes(index_t, index_t k) const { return a.col[k] >= first && a.col[k] < last; }
  FURROW_HD void put(index_t, index_t k, index_t place) const {
    col[place] = static_cast<std::int32_t>(a.col[k] - first);
    val[place] = a.val[k];
  }
};

/// Of the others, which row i has from all[i] - own[i] on, where its entries begin at all[i], its own ones at own[i].
struct mark_rows_with_others {
  const index_t *all, *own;
  std::uint8_t* mark;
  FURROW_HD void operator()(index_t i) const { mark[i] = all[i + 1] - own[i + 1] > all[i] - own[i]; }
};
/// As triplets.
template <class V> struct put_others {
  csr<V, index_t, cview> a;
  const index_t* own;
  index_t first, last;
  const std::int32_t* which; ///< rows that have some
  std::int32_t *row, *col;
  V* val;
  FURROW_HD void operator()(index_t r) const {
    const std::int32_t i = which[r];
    index_t to = a.row_ptr[i] - own[i];
    for (index_t k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (a.col[k] >= first && a.col[k] < last) continue;
      row[to] = i, col[to] = a.col[k], val[to] = a.val[k];
      ++to;
    }
  }
};

struct find_longest {
  const index_t* row_ptr;
  unsigned long long* to;
  __device__ void operator()(index_t i) const {
    const auto length = static_cast<unsigned long long>(row_ptr[i + 1] - row_ptr[i]);
    if (length > *to) atomicMax(to, length); // what was read may be old, and then smaller
  }
};

template <class V> index_t longest_row(const rows_on_gpu<V>& a) {
  gpu_array<unsigned long long> longest(1);
  gpu::fill_bytes(longest, 0);
  gpu::for_each(a.shape.rows, find_longest{a.row_ptr.data(), longest.data()});
  return static_cast<index_t>(gpu::fetch(longest.data()));
}

/// The rows as they are, where they have nothing else.
template <class V> rows_on_gpu<V> own_block(const rows_on_gpu<V>& a, index_t first, index_t last) {
  own_entries<V> own{a.view(), first, last};
  gpu_array<index_t> offsets(a.shape.rows + 1);
  gpu::count_passing(a.shape.rows, a.row_ptr.data(), own, offsets.data());
  const index_t count = gpu::to_offsets(offsets);
  if (count == a.nnz() && first == 0) return {{a.shape.rows, last}, a.row_ptr, a.col, a.val};
  gpu_array<std::int32_t> col(count);
  gpu_array<V> val(count);
  own.col = col.data(), own.val = val.data();
  gpu::put_passing(a.shape.rows, a.row_ptr.data(), own, offsets.data());
  return {{a.shape.rows, last - first},
          kept_array<index_t>(std::move(offsets)),
          kept_array<std::int32_t>(std::move(col)),
          kept_array<V>(std::move(val))};
}

/// What `own` lacks.
template <class V> coo<V> far_part(const rows_on_gpu<V>& a, const rows_on_gpu<V>& own, index_t first, index_t last) {
  const index_t count = a.nnz() - own.nnz(), rows = a.shape.rows;
  if (count == 0) return {a.shape, {}, {}, {}};
  gpu_array<std::uint8_t> mark(rows);
  gpu::for_each(rows, mark_rows_with_others{a.row_ptr.data(), own.row_ptr.data(), mark.data()});
  gpu_array<std::int32_t> which(rows), row(count), col(count);
  gpu_array<V> val(count);
  const index_t some = gpu::marked_places(mark, which);
  gpu::for_each(
      some, put_others<V>{a.view(), own.row_ptr.data(), first, last, which.data(), row.data(), col.data(), val.data()});
  return {a.shape, host_array<std::int32_t>(row), host_array<std::int32_t>(col), host_array<V>(val)};
}

/// `most` of them, whichever, where there are more.
template <class V> std::vector<std::int32_t> diagonals_of(const rows_on_gpu<V>& a, index_t most) {
  if (a.nnz() == 0) return {};
  const host_array<std::int32_t> found(diagonals_on_gpu(a.view(), most));
  if (!found.empty()) return {found.begin(), found.end()};
  std::vector<std::int32_t> any(static_cast<std::size_t>(most));
  std::iota(any.begin(), any.end(), 0);
  return any;
}

} // namespace gpu_apart

template <class V>
rows_apart<V> take_apart_on_gpu(const rows_on_gpu<V>& rows, index_t first, index_t last, index_t most_diagonals) {
  rows_apart<V> apart;
  apart.longest_row = gpu_apart::longest_row(rows);
  apart.own = gpu_apart::own_block(rows, first, last);
  apart.far = gpu_apart::far_part(rows, apart.own, first, last);
  apart.diagonals = gpu_apart::diagonals_of(apart.own, most_diagonals);
  return apart;
}

template rows_apart<double> take_apart_on_gpu(const rows_on_gpu<double>&, index_t, index_t, index_t);
template rows_apart<float> take_apart_on_gpu(const rows_on_gpu<float>&, index_t, index_t, index_t);

} // namespace furrow
