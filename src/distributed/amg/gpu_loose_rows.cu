// SPDX-License-Identifier: BSD-3-Clause
// Rows that come from other ranks and go to them.
#include "gpu_rows.hpp"

#include "backends/gpu/primitives.hpp"

#include <utility>

namespace furrow::amg {
namespace gpu_loose {

template <class T> struct pick {
  const T* from;
  const std::int32_t* place;
  T* to;
  FURROW_HD void operator()(index_t k) const { to[k] = from[place[k]]; }
};
struct count_from {
  index_t first;
  std::int32_t* to;
  FURROW_HD void operator()(index_t k) const { to[k] = static_cast<std::int32_t>(first + k); }
};
struct length_of_row {
  const index_t* begins;
  std::int32_t* length;
  FURROW_HD void operator()(index_t k) const { length[k] = static_cast<std::int32_t>(begins[k + 1] - begins[k]); }
};
struct widen_length {
  const std::int32_t* length;
  index_t* to;
  FURROW_HD void operator()(index_t k) const { to[k] = length[k]; }
};
struct global_name {
  named_columns names;
  const std::int32_t* from;
  std::int32_t* to;
  FURROW_HD void operator()(index_t k) const { to[k] = names.global_of(from[k]); }
};
struct local_name {
  named_columns names;
  std::int32_t* col;
  FURROW_HD void operator()(index_t k) const { col[k] = col[k] < 0 ? -1 : names.local_of(col[k]); }
};

} // namespace gpu_loose

template <class T> host_array<T> picked(const gpu_array<T>& from, const gpu_array<std::int32_t>& places) {
  gpu_array<T> to(places.size());
  gpu::for_each(to.size(), gpu_loose::pick<T>{from.data(), places.data(), to.data()});
  return host_array<T>(to);
}
template host_array<double> picked(const gpu_array<double>&, const gpu_array<std::int32_t>&);
template host_array<std::int32_t> picked(const gpu_array<std::int32_t>&, const gpu_array<std::int32_t>&);

template <class T> void append(gpu_array<T>& own, const host_array<T>& others) {
  const index_t n = own.size();
  own.extend(n + others.size());
  copy_bytes(gpu_memory{}, own.data() + n, host_memory{}, others.data(), others.byte_count());
}
template void append(gpu_array<double>&, const host_array<double>&);
template void append(gpu_array<std::int32_t>&, const host_array<std::int32_t>&);

void name_for_all(cview<std::int32_t> col, const named_columns& names, std::int32_t* to) {
  gpu::for_each(col.size, gpu_loose::global_name{names, col.data, to});
}

void name_here(view<std::int32_t> col, const named_columns& names) {
  gpu::for_each(col.size, gpu_loose::local_name{names, col.data});
}

loose_rows_there loosened(device_matrix a, const named_columns& names) {
  loose_rows_there to{gpu_array<std::int32_t>(a.shape.rows), gpu_array<std::int32_t>(a.val.size()), std::move(a.val)};
  gpu::for_each(a.shape.rows, gpu_loose::length_of_row{a.row_ptr.data(), to.length.data()});
  name_for_all(as_cview(a.col), names, to.col.data());
  return to;
}

loose_rows_there loosened_from(const device_matrix& a, index_t first, const named_columns& names) {
  gpu_array<std::int32_t> row(a.shape.rows - first);
  gpu::for_each(row.size(), gpu_loose::count_from{first, row.data()});
  return loosened(picked_rows(a, row), names);
}

loose_rows at_home(const loose_rows_there& rows) {
  return {host_array<std::int32_t>(rows.length), host_array<std::int32_t>(rows.col), host_array<double>(rows.val)};
}
loose_rows_there sent(const loose_rows& rows) {
  return {gpu_array<std::int32_t>(rows.length), gpu_array<std::int32_t>(rows.col), gpu_array<double>(rows.val)};
}

device_matrix named(const loose_rows_there& rows, const columns_there& names) {
  const index_t n = rows.length.size();
  device_matrix a{{n, names.count()}, gpu_array<index_t>(n + 1), rows.col, rows.val};
  gpu::for_each(n, gpu_loose::widen_length{rows.length.data(), a.row_ptr.data()});
  gpu::to_offsets(a.row_ptr);
  name_here(as_view(a.col), names.seen());
  return a;
}

} // namespace furrow::amg
