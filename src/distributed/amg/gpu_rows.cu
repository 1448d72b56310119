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
template <class V> struct put_far {
  const index_t *begins, *to;
  const std::int32_t *row, *from;
  const V* value;
  index_t own_columns;
  std::int32_t* col;
  double* val;
  FURROW_HD void operator()(index_t k) const {
    const index_t place = to[row[k] + 1] - begins[k + 1];
    for (index_t e = begins[k]; e < begins[k + 1]; ++e) {
      col[place + e] = static_cast<std::int32_t>(own_columns + from[e]);
      val[place + e] = double(value[e]);
    }
  }
};

/// Entries of one side.
struct of_own {
  device_view a;
  index_t split;
  std::int32_t* col = nullptr;
  double* val = nullptr;
  FURROW_HD bool passes(index_t, index_t k) const { return a.col[k] < split; }
  FURROW_HD void put(index_t, index_t k, index_t place) const { col[place] = a.col[k], val[place] = a.val[k]; }
};
struct of_others {
  device_view a;
  index_t split;
  std::int32_t* col = nullptr;
  double* val = nullptr;
  FURROW_HD bool passes(index_t, index_t k) const { return a.col[k] >= split; }
  FURROW_HD void put(index_t, index_t k, index_t place) const {
    col[place] = static_cast<std::int32_t>(a.col[k] - split), val[place] = a.val[k];
  }
};
struct mark_some {
  const index_t* offset;
  std::uint8_t* mark;
  FURROW_HD void operator()(index_t i) const { mark[i] = offset[i + 1] > offset[i]; }
};
struct pick_offset {
  const index_t* offset;
  const std::int32_t* row;
  index_t rows, all;
  index_t* to;
  FURROW_HD void operator()(index_t k) const { to[k] = k < rows ? offset[row[k]] : all; }
};

template <class Side>
std::pair<gpu_array<index_t>, index_t> offsets_of(const device_matrix& a, index_t rows, const Side& side) {
  gpu_array<index_t> offset(rows + 1);
  gpu::count_passing(rows, a.row_ptr.data(), side, offset.data());
  const index_t count = gpu::to_offsets(offset);
  return {std::move(offset), count};
}

} // namespace gpu_rows

device_matrix empty_rows(shape2 shape) {
  device_matrix none{shape, gpu_array<index_t>(shape.rows + 1), {}, {}};
  gpu::fill_bytes(none.row_ptr, 0);
  return none;
}

template <class V> device_matrix joined(const rows_of_gpu<V>& parts) {
  const index_t n = parts.own.shape.rows, h = parts.plan.columns.size();
  if (n == 0) return empty_rows({0, h});
  const gpu_array<index_t> begins(offsets_of_rows<index_t>(parts.far.row, parts.far.shape.rows));
  const gpu_array<std::int32_t> row(parts.far_rows), from(parts.far.col);
  const gpu_array<V> value(parts.far.val);
  device_matrix a{{n, n + h}, gpu_array<index_t>(n + 1), {}, {}};
  gpu::for_each(n, gpu_rows::own_length{parts.own.row_ptr.data(), a.row_ptr.data()});
  gpu::for_each(row.size(), gpu_rows::add_length{begins.data(), row.data(), a.row_ptr.data()});
  const index_t nnz = gpu::to_offsets(a.row_ptr);
  if (nnz > gpu::most_entries)
    throw error(fault::usage,
                "a rank has 2^31 entries or more, which multigrid on GPUs does not take: take more ranks");
  a.col = gpu_array<std::int32_t>(nnz), a.val = gpu_array<double>(nnz);
  const auto own = parts.own.view();
  gpu::for_each_entry(n, own.row_ptr.data, parts.own.nnz(),
                      gpu_rows::put_own<V>{own, a.row_ptr.data(), a.col.data(), a.val.data()});
  gpu::for_each(row.size(), gpu_rows::put_far<V>{begins.data(), a.row_ptr.data(), row.data(), from.data(), value.data(),
                                                 n, a.col.data(), a.val.data()});
  gpu::wait(gpu::current_queue()); // what it was made of goes
  return a;
}
template device_matrix joined(const rows_of_gpu<double>&);
template device_matrix joined(const rows_of_gpu<float>&);

device_matrix own_block(const device_matrix& a, index_t split) {
  const index_t n = a.shape.rows;
  if (n == 0) return empty_rows({0, split});
  gpu_rows::of_own own{view_of(a), split};
  auto [offset, count] = gpu_rows::offsets_of(a, n, own);
  device_matrix block{{n, split}, std::move(offset), gpu_array<std::int32_t>(count), gpu_array<double>(count)};
  own.col = block.col.data(), own.val = block.val.data();
  gpu::put_passing(n, a.row_ptr.data(), own, block.row_ptr.data());
  return block;
}

far_rows<double> far_block(const device_matrix& a, index_t rows, index_t split) {
  far_rows<double> far;
  far.begins = gpu_array<index_t>(1);
  gpu::fill_bytes(far.begins, 0);
  if (rows == 0 || a.shape.cols == split) return far;
  gpu_rows::of_others others{view_of(a), split};
  const auto [offset, count] = gpu_rows::offsets_of(a, rows, others);
  far.columns = gpu_array<std::int32_t>(count), far.values = gpu_array<double>(count);
  others.col = far.columns.data(), others.val = far.values.data();
  gpu::put_passing(rows, a.row_ptr.data(), others, offset.data());
  gpu_array<std::uint8_t> mark(rows);
  gpu::for_each(rows, gpu_rows::mark_some{offset.data(), mark.data()});
  far.row_of = gpu_array<std::int32_t>(rows);
  const index_t some = gpu::marked_places(mark, far.row_of);
  far.row_of.resize(some);
  far.begins = gpu_array<index_t>(some + 1);
  gpu::for_each(some + 1, gpu_rows::pick_offset{offset.data(), far.row_of.data(), some, count, far.begins.data()});
  return far;
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
