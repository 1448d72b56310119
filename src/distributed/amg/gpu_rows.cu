// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_rows.hpp"

#include "backends/gpu/primitives.hpp"
#include "core/row_offsets.hpp"
#include "distributed/rows_of_rank.hpp"
#include "matrix/rows.hpp"
#include "preconditioners/amg/gpu_setup.hpp"

#include <utility>

namespace furrow::amg {
namespace gpu_rows {

/// Lengths of rows side by side: those of the own block, and then the far ones.
struct own_length {
  const index_t* own;
  index_t* length;
  FURROW_HD void operator()(index_t i) const { length[i] = own[i + 1] - own[i]; }
};
struct add_length {
  const index_t* far;
  const std::int32_t* row;
  index_t* length;
  FURROW_HD void operator()(index_t k) const { length[row[k]] += far[k + 1] - far[k]; }
};

template <class V> struct put_own {
  csr<V, index_t, cview> own;
  const index_t* to;
  std::int32_t* col;
  double* val;
  FURROW_HD void operator()(index_t i, index_t k) const {
    const index_t place = to[i] + (k - own.row_ptr[i]);
    col[place] = own.col[k], val[place] = double(own.val[k]);
  }
};
/// Behind them, as the last entries of their rows.
struct put_far {
  const index_t *begins, *to;
  const std::int32_t *row, *from;
  const double* value;
  index_t own_columns;
  std::int32_t* col;
  double* val;
  FURROW_HD void operator()(index_t k) const {
    const index_t place = to[row[k] + 1] - begins[k + 1];
    for (index_t e = begins[k]; e < begins[k + 1]; ++e) {
      col[place + e] = static_cast<std::int32_t>(own_columns + from[e]);
      val[place + e] = value[e];
    }
  }
};

struct length_of_picked {
  const index_t* begins;
  const std::int32_t* row;
  index_t* length;
  FURROW_HD void operator()(index_t k) const { length[k] = begins[row[k] + 1] - begins[row[k]]; }
};
struct pack_row {
  device_view a;
  const std::int32_t* row;
  const index_t* offset;
  std::int32_t* col;
  double* val;
  FURROW_HD void operator()(index_t k) const {
    index_t to = offset[k];
    for (index_t e = a.row_ptr[row[k]]; e < a.row_ptr[row[k] + 1]; ++e, ++to) col[to] = a.col[e], val[to] = a.val[e];
  }
};
struct put_offset_behind {
  const index_t* offset;
  index_t before;
  index_t* to;
  FURROW_HD void operator()(index_t k) const { to[k] = before + offset[k]; }
};
template <class T> void put_behind(gpu_array<T>& a, const gpu_array<T>& more) {
  const index_t before = a.size();
  a.extend(before + more.size());
  gpu_memory::copy(a.data() + before, more.data(), more.byte_count());
}

} // namespace gpu_rows

device_matrix empty_rows(shape2 shape) {
  device_matrix none{shape, gpu_array<index_t>(shape.rows + 1), {}, {}};
  gpu::fill_bytes(none.row_ptr, 0);
  return none;
}

template <class V> void join(const rows_of_gpu<V>& parts, rows_there& to) {
  const index_t n = parts.own.shape.rows, h = parts.plan.columns.size();
  far_rows<double>& far = to.far;
  far.begins = gpu_array<index_t>(offsets_of_rows<index_t>(parts.far.row, parts.far.shape.rows));
  far.row_of = gpu_array<std::int32_t>(parts.far_rows), far.columns = gpu_array<std::int32_t>(parts.far.col);
  const gpu_array<V> value(parts.far.val);
  far.values = in_double(as_cview(value));
  if (n == 0) {
    to.a = empty_rows({0, h});
    return;
  }
  device_matrix a{{n, n + h}, gpu_array<index_t>(n + 1), {}, {}};
  gpu::for_each(n, gpu_rows::own_length{parts.own.row_ptr.data(), a.row_ptr.data()});
  gpu::for_each(far.row_of.size(), gpu_rows::add_length{far.begins.data(), far.row_of.data(), a.row_ptr.data()});
  const index_t nnz = gpu::to_offsets(a.row_ptr);
  if (nnz > gpu::most_entries)
    throw error(fault::usage,
                "a rank has 2^31 entries or more, which multigrid on GPUs does not take: take more ranks");
  a.col = gpu_array<std::int32_t>(nnz), a.val = gpu_array<double>(nnz);
  const auto own = parts.own.view();
  gpu::for_each_entry(n, own.row_ptr.data, parts.own.nnz(),
                      gpu_rows::put_own<V>{own, a.row_ptr.data(), a.col.data(), a.val.data()});
  gpu::for_each(far.row_of.size(),
                gpu_rows::put_far{far.begins.data(), a.row_ptr.data(), far.row_of.data(), far.columns.data(),
                                  far.values.data(), n, a.col.data(), a.val.data()});
  gpu::wait(gpu::current_queue()); // what it was made of goes
  to.a = std::move(a);
}
template void join(const rows_of_gpu<double>&, rows_there&);
template void join(const rows_of_gpu<float>&, rows_there&);

device_matrix picked_rows(const device_matrix& a, const gpu_array<std::int32_t>& row) {
  const index_t n = row.size();
  if (n == 0) return empty_rows({0, a.shape.cols});
  device_matrix some{{n, a.shape.cols}, gpu_array<index_t>(n + 1), {}, {}};
  gpu::for_each(n, gpu_rows::length_of_picked{a.row_ptr.data(), row.data(), some.row_ptr.data()});
  const index_t nnz = gpu::to_offsets(some.row_ptr);
  some.col = gpu_array<std::int32_t>(nnz), some.val = gpu_array<double>(nnz);
  gpu::for_each(n, gpu_rows::pack_row{view_of(a), row.data(), some.row_ptr.data(), some.col.data(), some.val.data()});
  return some;
}

void append(device_matrix& a, const device_matrix& more) {
  const index_t n = a.shape.rows, h = more.shape.rows, nnz = a.val.size();
  a.row_ptr.extend(n + h + 1);
  gpu::for_each(h, gpu_rows::put_offset_behind{more.row_ptr.data() + 1, nnz, a.row_ptr.data() + n + 1});
  gpu_rows::put_behind(a.col, more.col), gpu_rows::put_behind(a.val, more.val);
  a.shape = {n + h, more.shape.cols};
}

device_matrix top_of(device_matrix a, index_t rows) {
  const index_t nnz = gpu::fetch(a.row_ptr.data() + rows);
  a.shape.rows = rows;
  a.row_ptr.resize(rows + 1);
  a.col.resize(nnz), a.val.resize(nnz);
  return a;
}

coo<double> brought_home(const rows_there& rows) {
  const device_matrix& a = rows.a;
  row_matrix<double> home{a.shape, host_array<index_t>(a.row_ptr), host_array<std::int32_t>(a.col),
                          host_array<double>(a.val)};
  return with_global_columns(to_triplets(std::move(home)), rows.first, as_cview(rows.plan.columns), rows.unknowns());
}

} // namespace furrow::amg
