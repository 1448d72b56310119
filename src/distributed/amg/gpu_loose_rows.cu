// SPDX-License-Identifier: BSD-3-Clause
// Rows that come from other ranks and go to them.
#include "gpu_rows.hpp"

#include "backends/gpu/primitives.hpp"
#include "matrix/gpu_products.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace furrow::amg {
namespace gpu_rows {

template <class T> struct pick {
  const T* from;
  const std::int32_t* place;
  T* to;
  FURROW_HD void operator()(index_t k) const { to[k] = from[place[k]]; }
};
/// Columns of others get other names.
struct rename {
  const std::int32_t *from, *name;
  index_t own;
  std::int32_t* to;
  FURROW_HD void operator()(index_t k) const { to[k] = from[k] < own ? from[k] : name[from[k] - own]; }
};

/// Of a matrix that adds rows up: the lengths of its rows, and then their columns. Run r of rows that are added goes to
/// row[r]: those that `which` names from begin[r] on.
struct one_each {
  index_t* length;
  FURROW_HD void operator()(index_t i) const { length[i] = 1; }
};
struct add_run {
  const std::int32_t *row, *begin;
  index_t* length;
  FURROW_HD void operator()(index_t r) const { length[row[r]] += begin[r + 1] - begin[r]; }
};
struct put_itself {
  const index_t* offset;
  std::int32_t* col;
  FURROW_HD void operator()(index_t i) const { col[offset[i]] = static_cast<std::int32_t>(i); }
};
struct put_run {
  const std::int32_t *row, *begin, *which;
  const index_t* offset;
  std::int32_t* col;
  FURROW_HD void operator()(index_t r) const {
    index_t to = offset[row[r]] + 1;
    for (std::int32_t k = begin[r]; k < begin[r + 1]; ++k, ++to) col[to] = which[k];
  }
};
struct put_one {
  double* to;
  FURROW_HD void operator()(index_t k) const { to[k] = 1; }
};

struct length_of_sent {
  device_view p;
  const std::int32_t* row;
  std::int32_t* length;
  index_t* offset;
  FURROW_HD void operator()(index_t k) const {
    const index_t count = p.row_ptr[row[k] + 1] - p.row_ptr[row[k]];
    length[k] = static_cast<std::int32_t>(count), offset[k] = count;
  }
};
struct pack_row {
  device_view p;
  const std::int32_t* row;
  const index_t* offset;
  std::int32_t* col;
  double* val;
  FURROW_HD void operator()(index_t k) const {
    index_t to = offset[k];
    for (index_t e = p.row_ptr[row[k]]; e < p.row_ptr[row[k] + 1]; ++e, ++to) col[to] = p.col[e], val[to] = p.val[e];
  }
};

/// A copy with room behind it.
template <class T> gpu_array<T> with_room(const gpu_array<T>& from, index_t more) {
  gpu_array<T> to(from.size() + more);
  gpu_memory::copy(to.data(), from.data(), from.byte_count());
  return to;
}
template <class T> void send(T* to, const host_array<T>& from) {
  if (!from.empty()) copy_bytes(gpu_memory{}, to, host_memory{}, from.data(), from.byte_count());
}

template <class T> host_array<T> home(const T* from, index_t count) {
  host_array<T> to(count);
  if (count > 0) copy_bytes(host_memory{}, to.data(), gpu_memory{}, from, to.byte_count());
  return to;
}

} // namespace gpu_rows

template <class T> host_array<T> picked(const gpu_array<T>& from, const host_array<std::int32_t>& places) {
  const gpu_array<std::int32_t> place(places);
  gpu_array<T> to(places.size());
  gpu::for_each(to.size(), gpu_rows::pick<T>{from.data(), place.data(), to.data()});
  return gpu_rows::home(to.data(), to.size());
}
template host_array<double> picked(const gpu_array<double>&, const host_array<std::int32_t>&);
template host_array<std::int32_t> picked(const gpu_array<std::int32_t>&, const host_array<std::int32_t>&);

template <class T> gpu_array<T> with_others(const gpu_array<T>& own, const host_array<T>& others) {
  gpu_array<T> all = gpu_rows::with_room(own, others.size());
  gpu_rows::send(all.data() + own.size(), others);
  return all;
}
template gpu_array<double> with_others(const gpu_array<double>&, const host_array<double>&);
template gpu_array<std::int32_t> with_others(const gpu_array<std::int32_t>&, const host_array<std::int32_t>&);

loose_rows picked(const device_matrix& a, const host_array<std::int32_t>& places, const rank_columns& names) {
  const index_t rows = places.size();
  if (rows == 0) return {};
  const gpu_array<std::int32_t> row(places);
  gpu_array<std::int32_t> length(rows);
  gpu_array<index_t> offset(rows + 1);
  gpu::for_each(rows, gpu_rows::length_of_sent{view_of(a), row.data(), length.data(), offset.data()});
  const index_t count = gpu::to_offsets(offset);
  gpu_array<std::int32_t> col(count);
  gpu_array<double> val(count);
  gpu::for_each(rows, gpu_rows::pack_row{view_of(a), row.data(), offset.data(), col.data(), val.data()});
  loose_rows to{host_array<std::int32_t>(length), host_array<std::int32_t>(col), host_array<double>(val)};
  for (std::int32_t& j : to.col) j = names.global_of(j);
  return to;
}

loose_rows taken_out(const device_matrix& a, index_t first, const rank_columns& names) {
  const index_t rows = a.shape.rows - first;
  const host_array<index_t> ends = gpu_rows::home(a.row_ptr.data() + first, rows + 1);
  const index_t begin = ends[0], count = ends[rows] - begin;
  loose_rows to{host_array<std::int32_t>(rows), gpu_rows::home(a.col.data() + begin, count),
                gpu_rows::home(a.val.data() + begin, count)};
  for (index_t k = 0; k < rows; ++k) to.length[k] = static_cast<std::int32_t>(ends[k + 1] - ends[k]);
  for (std::int32_t& j : to.col) j = names.global_of(j);
  return to;
}

device_matrix stacked(const device_matrix& a, index_t rows, const rank_columns& names, const rank_columns& wider,
                      const loose_rows& more) {
  const index_t h = more.length.size(), nnz = gpu::fetch(a.row_ptr.data() + rows), added = more.val.size();
  const gpu_array<std::int32_t> name(names.others_in(wider));
  host_array<index_t> ends(h);
  host_array<std::int32_t> col(added);
  index_t end = nnz;
  for (index_t k = 0; k < h; ++k) ends[k] = end += more.length[k];
  for (index_t k = 0; k < added; ++k) col[k] = wider.local_of(more.col[k]);
  device_matrix all{{rows + h, wider.count()},
                    gpu_array<index_t>(rows + h + 1),
                    gpu_array<std::int32_t>(nnz + added),
                    gpu_array<double>(nnz + added)};
  gpu_memory::copy(all.row_ptr.data(), a.row_ptr.data(), sizeof(index_t) * static_cast<std::size_t>(rows + 1));
  if (nnz > 0) gpu_memory::copy(all.val.data(), a.val.data(), sizeof(double) * static_cast<std::size_t>(nnz));
  gpu::for_each(nnz, gpu_rows::rename{a.col.data(), name.data(), names.own(), all.col.data()});
  gpu_rows::send(all.row_ptr.data() + rows + 1, ends);
  gpu_rows::send(all.col.data() + nnz, col);
  gpu_rows::send(all.val.data() + nnz, more.val);
  return all;
}

device_matrix added(const device_matrix& a, index_t rows, const host_array<std::int32_t>& to) {
  if (to.empty())
    return top_of(device_matrix{a.shape, gpu_rows::with_room(a.row_ptr, 0), gpu_rows::with_room(a.col, 0),
                                gpu_rows::with_room(a.val, 0)},
                  rows);
  std::vector<std::int32_t> which(static_cast<std::size_t>(to.size())), row, begin;
  std::iota(which.begin(), which.end(), 0);
  std::ranges::stable_sort(which, {}, [&](std::int32_t k) { return to[k]; });
  for (std::size_t k = 0; k < which.size(); ++k)
    if (row.empty() || row.back() != to[which[k]])
      row.push_back(to[which[k]]), begin.push_back(static_cast<std::int32_t>(k));
  begin.push_back(static_cast<std::int32_t>(which.size()));
  for (std::int32_t& k : which) k += static_cast<std::int32_t>(rows);
  const auto rows_there = gpu::on_device(row), begins = gpu::on_device(begin), which_there = gpu::on_device(which);
  const index_t runs = rows_there.size();
  device_matrix sums{{rows, a.shape.rows}, gpu_array<index_t>(rows + 1), {}, {}};
  gpu::for_each(rows, gpu_rows::one_each{sums.row_ptr.data()});
  gpu::for_each(runs, gpu_rows::add_run{rows_there.data(), begins.data(), sums.row_ptr.data()});
  const index_t nnz = gpu::to_offsets(sums.row_ptr);
  sums.col = gpu_array<std::int32_t>(nnz), sums.val = gpu_array<double>(nnz);
  gpu::for_each(rows, gpu_rows::put_itself{sums.row_ptr.data(), sums.col.data()});
  gpu::for_each(runs, gpu_rows::put_run{rows_there.data(), begins.data(), which_there.data(), sums.row_ptr.data(),
                                        sums.col.data()});
  gpu::for_each(nnz, gpu_rows::put_one{sums.val.data()});
  return gpu::multiply(sums, a, gpu::row_order::sorted);
}

} // namespace furrow::amg
