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

/// The others, as triplets.
template <class V> struct far_entries {
  csr<V, index_t, cview> a;
  index_t first, last;
  std::int32_t *row = nullptr, *col = nullptr;
  V* val = nullptr;
  FURROW_HD bool passes(index_t, index_t k) const { return a.col[k] < first || a.col[k] >= last; }
  FURROW_HD void put(index_t i, index_t k, index_t place) const {
    row[place] = static_cast<std::int32_t>(i);
    col[place] = a.col[k];
    val[place] = a.val[k];
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

/// Offsets of the entries that pass, and how many they are.
template <class V, class F> std::pair<gpu_array<index_t>, index_t> offsets_of(const rows_on_gpu<V>& a, F f) {
  gpu_array<index_t> offsets(a.shape.rows + 1);
  gpu::count_passing(a.shape.rows, a.row_ptr.data(), f, offsets.data());
  const index_t count = gpu::to_offsets(offsets);
  return {std::move(offsets), count};
}

template <class V> rows_on_gpu<V> own_block(const rows_on_gpu<V>& a, index_t first, index_t last) {
  own_entries<V> own{a.view(), first, last};
  auto [offsets, count] = offsets_of(a, own);
  gpu_array<std::int32_t> col(count);
  gpu_array<V> val(count);
  own.col = col.data(), own.val = val.data();
  gpu::put_passing(a.shape.rows, a.row_ptr.data(), own, offsets.data());
  return {{a.shape.rows, last - first},
          kept_array<index_t>(std::move(offsets)),
          kept_array<std::int32_t>(std::move(col)),
          kept_array<V>(std::move(val))};
}

template <class V> coo<V> far_part(const rows_on_gpu<V>& a, index_t first, index_t last) {
  far_entries<V> far{a.view(), first, last};
  auto [offsets, count] = offsets_of(a, far);
  gpu_array<std::int32_t> row(count), col(count);
  gpu_array<V> val(count);
  far.row = row.data(), far.col = col.data(), far.val = val.data();
  if (count > 0) gpu::put_passing(a.shape.rows, a.row_ptr.data(), far, offsets.data());
  return {a.shape, host_array<std::int32_t>(row), host_array<std::int32_t>(col), host_array<V>(val)};
}

/// Columns as places behind the first own one: before it they are negative.
struct shift_column {
  const std::int32_t* from;
  std::int32_t first;
  std::int32_t* to;
  FURROW_HD void operator()(index_t k) const { to[k] = from[k] - first; }
};
template <class V> rows_look look_from(const rows_on_gpu<V>& a, index_t first) {
  if (first == 0) return look_at_rows(a);
  gpu_array<std::int32_t> col(a.nnz());
  gpu::for_each(a.nnz(), shift_column{a.col.data(), static_cast<std::int32_t>(first), col.data()});
  return look_at_rows(rows_on_gpu<V>{a.shape, a.row_ptr, kept_array<std::int32_t>(std::move(col)), a.val});
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
  apart.look = gpu_apart::look_from(rows, first);
  apart.longest_row = gpu_apart::longest_row(rows);
  apart.far = gpu_apart::far_part(rows, first, last);
  apart.own = gpu_apart::own_block(rows, first, last);
  apart.diagonals = gpu_apart::diagonals_of(apart.own, most_diagonals);
  return apart;
}

template rows_apart<double> take_apart_on_gpu(const rows_on_gpu<double>&, index_t, index_t, index_t);
template rows_apart<float> take_apart_on_gpu(const rows_on_gpu<float>&, index_t, index_t, index_t);

} // namespace furrow
