// SPDX-License-Identifier: BSD-3-Clause
#include "borrow.hpp"
#include "wrong_rows.hpp"

#include "backends/cpu/copy.hpp"
#include "core/check.hpp"
#include "core/host_room.hpp"
#include "core/measure.hpp"
#include "core/memory_place.hpp"
#include "core/triplets.hpp"

#include <furrow/assemble.hpp>
#include <furrow/device.hpp>
#include <furrow/sparse.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

namespace furrow {
namespace {

constexpr index_t grain = index_t(1) << 15;

/// The first k in [0, n) for which `is_wrong(k)`, or n. Parallel.
template <class F> index_t first_wrong(index_t n, F is_wrong) {
  std::atomic<index_t> first = n;
  cpu::for_each_range(n, grain, [&](index_t begin, index_t end) {
    for (index_t k = begin; k < end; ++k)
      if (is_wrong(k)) return lower(first, k);
  });
  return first;
}

template <class V, class I> void check_on_host(const csr_arrays<V, I>& a) {
  check(!a.where.is_gpu(), fault::device,
        "the rows lie on {}: a matrix or a solver there takes them, everything else takes them in host memory",
        describe(a.where));
}

} // namespace

template <class V, class I> void check_lengths(const csr_arrays<V, I>& a) {
  if (const auto what = wrong_sides(a.shape); !what.empty()) throw error(fault::input, what);
  check(a.row_ptr.size == a.shape.rows + 1, fault::input, "row_ptr has {} elements for a matrix of {} rows: give {}",
        a.row_ptr.size, a.shape.rows, a.shape.rows + 1);
  check(a.col.size == a.val.size, fault::input, "the matrix has {} column indices and {} values: give as many of each",
        a.col.size, a.val.size);
  check(a.row_ptr.data && (a.col.data || a.col.empty()) && (a.val.data || a.val.empty()), fault::input,
        "an array of the matrix points nowhere");
  if (a.where.is_gpu()) return;
  for (const auto& [name, array] :
       {std::pair<const char*, const void*>("row_ptr", a.row_ptr.data), {"col", a.col.data}, {"val", a.val.data}}) {
    const memory_place is = place_of(array);
    check(is.host, fault::usage, "{} is on gpu:{}, but the rows are said to lie in host memory: say where they are",
          name, is.ordinal);
  }
}

template <class V, class I> void check_offsets(const csr_arrays<V, I>& a) {
  check(a.row_ptr[0] == 0, fault::input, "row_ptr begins with {}: offsets begin with 0", a.row_ptr[0]);
  const index_t r = first_wrong(a.shape.rows, [&](index_t k) { return a.row_ptr[k + 1] < a.row_ptr[k]; });
  if (r < a.shape.rows)
    throw_sentence(fault::input, "row_ptr[{}] = {} is less than row_ptr[{}] = {}: offsets do not decrease", r + 1,
                   a.row_ptr[r + 1], r, a.row_ptr[r]);
  const index_t nnz = a.row_ptr[a.shape.rows];
  check(nnz <= a.col.size, fault::input, "row_ptr ends with {}, but there are {} column indices", nnz, a.col.size);
}

namespace {

void check_memory(std::size_t entry, index_t nnz) {
  const double bytes = double(entry) * double(nnz);
  if (host_room free; !free.takes(bytes))
    throw_sentence(fault::memory, "{} entries take {:.1f} GB of memory as triplets, of which {:.1f} GB can be had", nnz,
                   bytes / 1e9, free.bytes() / 1e9);
}

template <class V, class I> [[noreturn]] void refuse_column(const csr_arrays<V, I>& a) {
  const index_t nnz = a.row_ptr[a.shape.rows];
  const index_t k = first_wrong(nnz, [&](index_t e) { return a.col[e] < 0 || a.col[e] >= a.shape.cols; });
  const index_t row = std::upper_bound(a.row_ptr.begin(), a.row_ptr.end(), static_cast<I>(k)) - a.row_ptr.begin() - 1;
  throw_sentence(fault::input, "entry {}, in row {}, is in column {} of a matrix of {} x {}: indices count from 0", k,
                 row, a.col[k], a.shape.rows, a.shape.cols);
}

/// What a stretch of the entries showed.
struct seen {
  bool outside = false, disordered = false;
};

/// Looks at the entries [first, last): put(k, row) for each.
template <class V, class I, class Put>
seen each_entry(const csr_arrays<V, I>& a, index_t first, index_t last, Put&& put) {
  seen s;
  index_t row = std::upper_bound(a.row_ptr.begin(), a.row_ptr.end(), static_cast<I>(first)) - a.row_ptr.begin() - 1;
  for (index_t k = first; k < last; ++row) {
    const index_t begin = a.row_ptr[row], end = std::min<index_t>(a.row_ptr[row + 1], last);
    for (; k < end; ++k) {
      const I col = a.col[k];
      s.outside |= col < 0 || col >= a.shape.cols;
      s.disordered |= k > begin && col <= a.col[k - 1];
      put(k, row);
    }
  }
  return s;
}

/// put(k, row) for every entry, from any thread. Returns whether rows are sorted; throws for a column outside.
template <class V, class I, class Put> bool read_entries(const csr_arrays<V, I>& a, Put&& put) {
  std::atomic<bool> outside = false, disordered = false;
  cpu::for_each_range(a.row_ptr[a.shape.rows], grain, [&](index_t first, index_t last) {
    const seen s = each_entry(a, first, last, put);
    if (s.outside) outside = true;
    if (s.disordered) disordered = true;
  });
  if (outside) refuse_column(a);
  return !disordered;
}

} // namespace

template <class V> void check_sizes(const coo<V>& a) {
  if (const auto what = wrong_sizes(a.shape, a.row.size(), a.col.size(), a.nnz()); !what.empty())
    throw error(fault::input, what);
}

template <class V, class I> void refuse_rows(const csr_arrays<V, I>& a) {
  check_offsets(a);
  refuse_column(a);
}

template <class V> std::optional<measured_rows<V>> borrow_and_measure(const csr_arrays<V, std::int32_t>& a) {
  check_on_host(a);
  check_lengths(a);
  check_offsets(a);
  const index_t nnz = a.row_ptr[a.shape.rows];
  borrowed_rows<V> to{a.shape, a.row_ptr, part(a.col, 0, nnz), part(a.val, 0, nnz)};
  if (auto sums = measure_sums_where_kept(to)) return measured_rows<V>{to, std::move(*sums)};
  read_entries(a, [](index_t, index_t) {}); // throws where a column is outside; otherwise rows are not sorted
  return std::nullopt;
}

template <class V> coo<V> copy_of(const borrowed_rows<V>& a) {
  check_memory(8 + sizeof(V), a.nnz());
  host_array<std::int32_t> row(a.nnz());
  cpu::for_each_range(a.shape.rows, 1 << 12, [&](index_t first, index_t last) {
    for (index_t r = first; r < last; ++r)
      std::fill(row.begin() + a.row_ptr[r], row.begin() + a.row_ptr[r + 1], static_cast<std::int32_t>(r));
  });
  return {a.shape, std::move(row), copy_of(a.col), copy_of(a.val)};
}

template <class V, class I> coo<V> to_coo(const csr_arrays<V, I>& a) {
  check_on_host(a);
  check_lengths(a);
  check_offsets(a);
  const index_t nnz = a.row_ptr[a.shape.rows];
  check_memory(8 + sizeof(V), nnz);
  coo<V> to{a.shape, host_array<std::int32_t>(nnz), host_array<std::int32_t>(nnz), host_array<V>(nnz)};
  const bool sorted = read_entries(a, [&](index_t k, index_t row) {
    to.row[k] = static_cast<std::int32_t>(row);
    to.col[k] = static_cast<std::int32_t>(a.col[k]);
    to.val[k] = a.val[k];
  });
  if (sorted) return to;
  return assemble(a.shape, as_cview(to.row), as_cview(to.col), as_cview(to.val));
}

#define FURROW_ROWS(V, I)                                                                                              \
  template void check_lengths(const csr_arrays<V, I>&);                                                                \
  template void check_offsets(const csr_arrays<V, I>&);                                                                \
  template void refuse_rows(const csr_arrays<V, I>&);
FURROW_ROWS(double, std::int32_t)
FURROW_ROWS(double, std::int64_t)
FURROW_ROWS(float, std::int32_t)
FURROW_ROWS(float, std::int64_t)
#undef FURROW_ROWS
template void check_sizes(const coo<double>&);
template void check_sizes(const coo<float>&);
template std::optional<measured_rows<double>> borrow_and_measure(const csr_arrays<double, std::int32_t>&);
template std::optional<measured_rows<float>> borrow_and_measure(const csr_arrays<float, std::int32_t>&);
template coo<double> copy_of(const borrowed_rows<double>&);
template coo<float> copy_of(const borrowed_rows<float>&);
template coo<double> to_coo(const csr_arrays<double, std::int32_t>&);
template coo<double> to_coo(const csr_arrays<double, std::int64_t>&);
template coo<float> to_coo(const csr_arrays<float, std::int32_t>&);
template coo<float> to_coo(const csr_arrays<float, std::int64_t>&);

} // namespace furrow
