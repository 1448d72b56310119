// SPDX-License-Identifier: BSD-3-Clause
#include "rows_on_gpu.hpp"

#include "backends/gpu/primitives.hpp"
#include "core/memory_place.hpp"
#include "wrong_rows.hpp"

#include <type_traits>

namespace furrow {
namespace gpu_rows {

/// A word that kernels set and the host reads.
class mark {
public:
  mark() : word_(1) { gpu::fill_bytes(word_, 0); }
  int* data() { return word_.data(); }
  bool is_set() const { return gpu::fetch(word_.data()) != 0; }

private:
  gpu_array<int> word_;
};

template <class T> gpu_array<T> sent(cview<T> v) {
  gpu_array<T> there(v.size);
  copy_bytes(gpu_memory{}, there.data(), host_memory{}, v.data, there.byte_count());
  return there;
}

/// As on the host.
struct find_wrong_triplet {
  shape2 shape;
  const std::int32_t *row, *col;
  int* wrong;
  FURROW_HD void operator()(index_t k) const {
    const std::int32_t i = row[k], j = col[k];
    bool bad = i < 0 || i >= shape.rows || j < 0 || j >= shape.cols;
    if (k > 0) bad = bad || i < row[k - 1] || (i == row[k - 1] && j <= col[k - 1]);
    if (bad) *wrong = 1;
  }
};

/// to[r] <- the number of entries before row r.
struct find_offset {
  cview<std::int32_t> row;
  index_t* to;
  FURROW_HD void operator()(index_t r) const {
    index_t low = 0, high = row.size;
    while (low < high) {
      const index_t middle = low + (high - low) / 2;
      if (row[middle] < r) low = middle + 1;
      else high = middle;
    }
    to[r] = low;
  }
};

template <class I> struct widen_offset {
  const I* from;
  index_t rows, places;
  index_t* to;
  int* wrong;
  FURROW_HD void operator()(index_t r) const {
    to[r] = from[r];
    if (r == 0 ? from[0] != 0 : from[r] < from[r - 1]) *wrong = 1;
    if (r == rows && from[r] > places) *wrong = 1;
  }
};

/// Entry k of row i; to: null where columns stay where they are.
template <class I> struct look_at_column {
  const I* from;
  const index_t* row_ptr;
  index_t cols;
  std::int32_t* to;
  int *outside, *disordered;
  FURROW_HD void operator()(index_t i, index_t k) const {
    const I col = from[k];
    if (col < 0 || col >= cols) *outside = 1;
    if (k > row_ptr[i] && col <= from[k - 1]) *disordered = 1;
    if (to) to[k] = static_cast<std::int32_t>(col);
  }
};

template <class V> struct negate {
  const V* from;
  V* to;
  FURROW_HD void operator()(index_t k) const { to[k] = -from[k]; }
};

struct write_row {
  std::int32_t* to;
  FURROW_HD void operator()(index_t i, index_t k) const { to[k] = static_cast<std::int32_t>(i); }
};

template <class V> struct find_diagonal {
  csr<V, index_t, cview> a;
  V* to;
  FURROW_HD void operator()(index_t i) const {
    index_t low = a.row_ptr[i], high = a.row_ptr[i + 1];
    const index_t end = high;
    while (low < high) {
      const index_t middle = low + (high - low) / 2;
      if (a.col[middle] < i) low = middle + 1;
      else high = middle;
    }
    to[i] = low < end && a.col[low] == i ? a.val[low] : V(0);
  }
};

/// Whose arrays they are: throws unless that is where `a.where` says.
template <class V, class I> void check_place(const csr_arrays<V, I>& a) {
  const auto look = [&](std::string_view name, const void* at, bool empty) {
    if (!empty) lie_on_gpu(a.where, std::array{placed{name, place_of(at)}, placed{name, place_of(at)}});
    const memory_place is = empty ? memory_place{} : place_of(at);
    furrow::check(empty || is.gpu, fault::usage, "the rows are said to lie on a GPU, but are in host memory");
  };
  look("row_ptr", a.row_ptr.data, a.row_ptr.empty());
  look("col", a.col.data, a.col.empty());
  look("val", a.val.data, a.val.empty());
}

template <class T> kept_array<T> kept_or_copied(cview<T> v, const std::shared_ptr<const void>& owner) {
  if (owner) return {v, owner};
  gpu_array<T> own(v.size);
  gpu_memory::copy(own.data(), v.data, own.byte_count());
  return kept_array<T>(std::move(own));
}

template <class T> host_array<T> fetched(cview<T> v) {
  host_array<T> home(v.size);
  copy_bytes(host_memory{}, home.data(), gpu_memory{}, v.data, home.byte_count());
  return home;
}

} // namespace gpu_rows

template <class V> rows_on_gpu<V> send_rows(const coo<V>& a) {
  using namespace gpu_rows;
  check_sizes(a);
  const gpu_array<std::int32_t> row = sent(as_cview(a.row));
  gpu_array<std::int32_t> col = sent(as_cview(a.col));
  mark wrong;
  gpu::for_each(a.nnz(), find_wrong_triplet{a.shape, row.data(), col.data(), wrong.data()});
  gpu_array<V> val = sent(as_cview(a.val));
  if (wrong.is_set()) {
    check_triplets(a); // names the first
    throw error(fault::internal, "the GPU found triplets out of order that the host finds in order");
  }
  gpu_array<index_t> row_ptr(a.shape.rows + 1);
  gpu::for_each(row_ptr.size(), find_offset{as_cview(row), row_ptr.data()});
  return {a.shape, kept_array(std::move(row_ptr)), kept_array(std::move(col)), kept_array(std::move(val))};
}

template <class V, class I> std::optional<rows_on_gpu<V>> send_rows(const csr_arrays<V, I>& a) {
  using namespace gpu_rows;
  check_lengths(a);
  const bool there = a.where.is_gpu();
  if (there) check_place(a);
  const auto refuse = [&] { // the host names what is wrong
    if (there) refuse_rows(brought_home(a));
    else refuse_rows(a);
  };
  gpu_array<I> given_ptr;
  if (!there) given_ptr = sent(a.row_ptr);
  gpu_array<index_t> row_ptr(a.shape.rows + 1);
  mark wrong;
  gpu::for_each(row_ptr.size(), widen_offset<I>{there ? a.row_ptr.data : given_ptr.data(), a.shape.rows, a.col.size,
                                                row_ptr.data(), wrong.data()});
  if (wrong.is_set()) refuse();
  const index_t nnz = gpu::fetch(row_ptr.data() + a.shape.rows);
  const cview<I> given_col = part(a.col, 0, nnz);
  const cview<V> given_val = part(a.val, 0, nnz);
  gpu_array<I> sent_col;
  if (!there) sent_col = sent(given_col);
  const I* const cols = there ? given_col.data : sent_col.data();
  gpu_array<std::int32_t> narrow(sizeof(I) == 4 ? 0 : nnz);
  mark outside, disordered;
  gpu::for_each_entry(a.shape.rows, row_ptr.data(), nnz,
                      look_at_column<I>{cols, row_ptr.data(), a.shape.cols, sizeof(I) == 4 ? nullptr : narrow.data(),
                                        outside.data(), disordered.data()});
  kept_array<V> val = there ? kept_or_copied(given_val, a.owner) : kept_array<V>(sent(given_val));
  if (outside.is_set()) refuse();
  if (disordered.is_set()) return std::nullopt;
  kept_array<std::int32_t> col;
  if constexpr (sizeof(I) == 8) col = kept_array<std::int32_t>(std::move(narrow));
  else col = there ? kept_or_copied(given_col, a.owner) : kept_array<std::int32_t>(std::move(sent_col));
  return rows_on_gpu<V>{a.shape, kept_array<index_t>(std::move(row_ptr)), std::move(col), std::move(val)};
}

template <class V> coo<V> bring_home(const rows_on_gpu<V>& a) {
  gpu_array<std::int32_t> row(a.nnz());
  gpu::for_each_entry(a.shape.rows, a.row_ptr.data(), a.nnz(), gpu_rows::write_row{row.data()});
  return {a.shape, host_array<std::int32_t>(row), to_host(a.col), to_host(a.val)};
}

template <class V, class I> csr_arrays<V, I> brought_home(const csr_arrays<V, I>& a) {
  struct arrays {
    host_array<I> row_ptr, col;
    host_array<V> val;
  };
  auto home = std::make_shared<arrays>(
      arrays{gpu_rows::fetched(a.row_ptr), gpu_rows::fetched(a.col), gpu_rows::fetched(a.val)});
  return {a.shape, as_cview(home->row_ptr), as_cview(home->col), as_cview(home->val), {}, home};
}

template <class V> rows_on_gpu<V> negated(const rows_on_gpu<V>& a) {
  gpu_array<V> val(a.nnz());
  gpu::for_each(a.nnz(), gpu_rows::negate<V>{a.val.data(), val.data()});
  return {a.shape, a.row_ptr, a.col, kept_array<V>(std::move(val))};
}

template <class V> gpu_array<V> diagonal_of(const rows_on_gpu<V>& a) {
  gpu_array<V> diagonal(a.shape.rows);
  gpu::for_each(a.shape.rows, gpu_rows::find_diagonal<V>{a.view(), diagonal.data()});
  return diagonal;
}

#define FURROW_ROWS(V)                                                                                                 \
  template rows_on_gpu<V> send_rows(const coo<V>&);                                                                    \
  template std::optional<rows_on_gpu<V>> send_rows(const csr_arrays<V, std::int32_t>&);                                \
  template std::optional<rows_on_gpu<V>> send_rows(const csr_arrays<V, std::int64_t>&);                                \
  template coo<V> bring_home(const rows_on_gpu<V>&);                                                                   \
  template csr_arrays<V, std::int32_t> brought_home(const csr_arrays<V, std::int32_t>&);                               \
  template csr_arrays<V, std::int64_t> brought_home(const csr_arrays<V, std::int64_t>&);                               \
  template rows_on_gpu<V> negated(const rows_on_gpu<V>&);                                                              \
  template gpu_array<V> diagonal_of(const rows_on_gpu<V>&);
FURROW_ROWS(double)
FURROW_ROWS(float)
#undef FURROW_ROWS

} // namespace furrow
