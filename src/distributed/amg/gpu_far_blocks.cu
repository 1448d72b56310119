// SPDX-License-Identifier: BSD-3-Clause
// A rank's own entries, and those in columns of others.
#include "gpu_rows.hpp"

#include "backends/gpu/primitives.hpp"

#include <furrow/storage.hpp>

#include <bit>
#include <utility>

namespace furrow::amg {
namespace gpu_far_blocks {

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

struct pick_row {
  const std::int32_t* from;
  std::int32_t* row;
  FURROW_HD void operator()(index_t k) const { row[k] = from[row[k]]; }
};

/// Offsets of rows without the far entries before them.
struct near_offset {
  const index_t *begins, *far_begins;
  const std::int32_t* far_row;
  index_t far_rows;
  index_t* to;
  FURROW_HD void operator()(index_t i) const {
    to[i] = begins[i] - far_begins[first_not_below(far_row, far_rows, static_cast<std::int32_t>(i))];
  }
};
template <class W> struct put_near {
  device_view a;
  index_t split;
  double scale;
  const index_t* to;
  std::int32_t* col;
  W* val;
  FURROW_HD void operator()(index_t i, index_t k) const {
    if (a.col[k] >= split) return;
    const index_t place = to[i] + (k - a.row_ptr[i]);
    col[place] = a.col[k], val[place] = rounded<W>(a.val[k], scale);
  }
};

/// Of entries that are sorted by column.
struct name_row {
  std::int32_t* row_of;
  FURROW_HD void operator()(index_t i, index_t k) const { row_of[k] = static_cast<std::int32_t>(i); }
};
struct mark_other {
  const std::int32_t* sorted;
  std::uint8_t* mark;
  FURROW_HD void operator()(index_t k) const { mark[k] = k == 0 || sorted[k] != sorted[k - 1]; }
};
struct begin_of_row {
  const std::int32_t* first;
  index_t rows, all;
  index_t* to;
  FURROW_HD void operator()(index_t k) const { to[k] = k < rows ? first[k] : all; }
};
struct pick_sorted {
  const std::int32_t *sorted, *first;
  std::int32_t* to;
  FURROW_HD void operator()(index_t k) const { to[k] = sorted[first[k]]; }
};
struct turn_over {
  const std::int32_t *from, *row_of;
  const double* val;
  std::int32_t* col;
  double* to;
  FURROW_HD void operator()(index_t k) const { col[k] = row_of[from[k]], to[k] = val[from[k]]; }
};

} // namespace gpu_far_blocks

device_matrix own_block(const device_matrix& a, index_t split) {
  const index_t n = a.shape.rows;
  if (n == 0) return empty_rows({0, split});
  gpu_far_blocks::of_own own{view_of(a), split};
  device_matrix block{{n, split}, gpu_array<index_t>(n + 1), {}, {}};
  gpu::count_passing(n, a.row_ptr.data(), own, block.row_ptr.data());
  const index_t count = gpu::to_offsets(block.row_ptr);
  block.col = gpu_array<std::int32_t>(count), block.val = gpu_array<double>(count);
  own.col = block.col.data(), own.val = block.val.data();
  gpu::put_passing(n, a.row_ptr.data(), own, block.row_ptr.data());
  return block;
}

far_rows<double> far_block(const device_matrix& a, index_t rows, index_t split) {
  far_rows<double> far;
  far.begins = gpu_array<index_t>(1);
  gpu::fill_bytes(far.begins, 0);
  if (rows == 0 || a.shape.cols == split) return far;
  gpu_far_blocks::of_others others{view_of(a), split};
  gpu_array<index_t> offset(rows + 1);
  gpu::count_passing(rows, a.row_ptr.data(), others, offset.data());
  const index_t count = gpu::to_offsets(offset);
  far.columns = gpu_array<std::int32_t>(count), far.values = gpu_array<double>(count);
  others.col = far.columns.data(), others.val = far.values.data();
  gpu::put_passing(rows, a.row_ptr.data(), others, offset.data());
  gpu_array<std::uint8_t> mark(rows);
  gpu::for_each(rows, gpu_far_blocks::mark_some{offset.data(), mark.data()});
  far.row_of = gpu_array<std::int32_t>(rows);
  const index_t some = gpu::marked_places(mark, far.row_of);
  far.row_of.resize(some);
  far.begins = gpu_array<index_t>(some + 1);
  gpu::for_each(some + 1,
                gpu_far_blocks::pick_offset{offset.data(), far.row_of.data(), some, count, far.begins.data()});
  return far;
}

far_rows<double> far_block_of(const device_matrix& some, const gpu_array<std::int32_t>& row, index_t split) {
  far_rows<double> far = far_block(some, some.shape.rows, split);
  gpu::for_each(far.row_of.size(), gpu_far_blocks::pick_row{row.data(), far.row_of.data()});
  return far;
}

far_rows<double> transposed_far(const device_matrix& a) {
  const index_t nnz = a.val.size();
  if (nnz == 0) return far_block(a, 0, 0);
  gpu_array<std::int32_t> row(a.col), from(nnz), row_of(nnz), first(nnz);
  gpu::for_each(nnz, gpu::count_up<std::int32_t>{from.data()});
  gpu::sort_pairs(row, from, std::bit_width(static_cast<std::uint64_t>(a.shape.cols)));
  gpu::for_each_entry(a.shape.rows, a.row_ptr.data(), nnz, gpu_far_blocks::name_row{row_of.data()});
  gpu_array<std::uint8_t> mark(nnz);
  gpu::for_each(nnz, gpu_far_blocks::mark_other{row.data(), mark.data()});
  const index_t some = gpu::marked_places(mark, first);
  far_rows<double> far{gpu_array<index_t>(some + 1), gpu_array<std::int32_t>(nnz), gpu_array<std::int32_t>(some),
                       gpu_array<double>(nnz)};
  gpu::for_each(some + 1, gpu_far_blocks::begin_of_row{first.data(), some, nnz, far.begins.data()});
  gpu::for_each(some, gpu_far_blocks::pick_sorted{row.data(), first.data(), far.row_of.data()});
  gpu::for_each(
      nnz, gpu_far_blocks::turn_over{from.data(), row_of.data(), a.val.data(), far.columns.data(), far.values.data()});
  return far;
}

template <class W>
rows<W, gpu_array> without_far(device_matrix&& a, const far_rows<double>& far, index_t split, double scale) {
  if (!far.row_of.empty()) return without_far<W>(std::as_const(a), far, split, scale);
  auto values = rounded_values<W>(a.val, scale);
  return {{a.shape.rows, split}, std::move(a.row_ptr), std::move(a.col), std::move(values)};
}
template rows<double, gpu_array> without_far(device_matrix&&, const far_rows<double>&, index_t, double);
template rows<float, gpu_array> without_far(device_matrix&&, const far_rows<double>&, index_t, double);

template <class W>
rows<W, gpu_array> without_far(const device_matrix& a, const far_rows<double>& far, index_t split, double scale) {
  const index_t n = a.shape.rows, nnz = a.val.size(), near = nnz - far.values.size();
  rows<W, gpu_array> own{{n, split}, gpu_array<index_t>(n + 1), gpu_array<std::int32_t>(near), gpu_array<W>(near)};
  gpu::for_each(n + 1, gpu_far_blocks::near_offset{a.row_ptr.data(), far.begins.data(), far.row_of.data(),
                                                   far.row_of.size(), own.row_ptr.data()});
  gpu::for_each_entry(
      n, a.row_ptr.data(), nnz,
      gpu_far_blocks::put_near<W>{view_of(a), split, scale, own.row_ptr.data(), own.col.data(), own.val.data()});
  return own;
}
template rows<double, gpu_array> without_far(const device_matrix&, const far_rows<double>&, index_t, double);
template rows<float, gpu_array> without_far(const device_matrix&, const far_rows<double>&, index_t, double);

} // namespace furrow::amg
