// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "amg_on_gpus.hpp"
#include "gpu_columns.hpp"
#include "loose_rows.hpp"

#include "distributed/gpu/far_rows.hpp"
#include "preconditioners/amg/gpu_coarsening.hpp"
#include "preconditioners/amg/gpu_rounding.hpp"

#include <vector>

/// A rank's rows of a level on its GPU. Enqueued on the current queue, and waited for where sizes are needed. Sums have
/// one order: the same bits on every run.
namespace furrow::amg {

/// Entries in columns of others.
template <class V> struct far_rows {
  gpu_array<index_t> begins;
  gpu_array<std::int32_t> columns, row_of;
  gpu_array<V> values;
  gpu::far_part<V> seen() const { return {row_of.size(), begins.data(), columns.data(), row_of.data(), values.data()}; }
  double stored_bytes() const {
    return double(begins.byte_count() + columns.byte_count() + row_of.byte_count() + values.byte_count());
  }
};
/// The same in the precision of a level; takes the arrays.
template <class W> far_rows<W> kept(far_rows<double>&& a, double scale) {
  auto values = rounded_values<W>(a.values, scale);
  return {std::move(a.begins), std::move(a.columns), std::move(a.row_of), std::move(values)};
}

/// With its own columns from 0 on, and behind them those of the plan.
struct rows_there {
  std::vector<index_t> begins; ///< of all ranks
  index_t first = 0;           ///< the first row of this one
  device_matrix a;             ///< each row with its own columns first
  far_rows<double> far;        ///< the entries of `a` in columns of others, once more
  halo_plan plan;
  index_t unknowns() const { return begins.back(); }
};

device_matrix empty_rows(shape2 shape);

/// Entries of A side by side, in double: `a` and `far` of its rows.
template <class V> void join(const rows_of_gpu<V>& parts, rows_there& to);
/// Its entries in columns before `split`.
device_matrix own_block(const device_matrix& a, index_t split);
/// Of the first `rows` of a, the entries in columns from `split` on.
far_rows<double> far_block(const device_matrix& a, index_t rows, index_t split);
/// The same of rows that were picked: those that `row` names, ascending, of a matrix.
far_rows<double> far_block_of(const device_matrix& some, const gpu_array<std::int32_t>& row, index_t split);
/// A', of which rows without entries are left out.
far_rows<double> transposed_far(const device_matrix& a);
/// Times the scale, without the entries `far`: those in columns from `split` on, which are the last ones of their rows.
/// One pass. The second one takes the arrays where there are none.
template <class W>
rows<W, gpu_array> without_far(const device_matrix& a, const far_rows<double>& far, index_t split, double scale);
template <class W>
rows<W, gpu_array> without_far(device_matrix&& a, const far_rows<double>& far, index_t split, double scale);
/// The first rows.
device_matrix top_of(device_matrix a, index_t rows);
/// The rows that `row` names, one after the other.
device_matrix picked_rows(const device_matrix& a, const gpu_array<std::int32_t>& row);
/// Behind the rows of a, whose memory it takes where there is room.
void append(device_matrix& a, const device_matrix& more);

/// Elements that a plan sends, in host memory.
template <class T> host_array<T> picked(const gpu_array<T>& from, const gpu_array<std::int32_t>& places);
/// Those of others behind one's own, in its memory where there is room.
template <class T> void append(gpu_array<T>& own, const host_array<T>& others);

/// Rows between ranks, as `loose_rows`, on a GPU.
struct loose_rows_there {
  gpu_array<std::int32_t> length, col; ///< columns of all
  gpu_array<double> val;
};
/// to[k] <- the number of column k that all ranks know it by.
void name_for_all(cview<std::int32_t> col, const named_columns& names, std::int32_t* to);
/// The way back, in place, of columns that the names have; negative numbers become -1.
void name_here(view<std::int32_t> col, const named_columns& names);
/// All rows of a, which go, or those from `first` on.
loose_rows_there loosened(device_matrix a, const named_columns& names);
loose_rows_there loosened_from(const device_matrix& a, index_t first, const named_columns& names);
/// Between the memories.
loose_rows at_home(const loose_rows_there& rows);
loose_rows_there sent(const loose_rows& rows);
/// As a matrix with the columns that the names say.
device_matrix named(const loose_rows_there& rows, const columns_there& names);

/// A rank's rows of P'A P, once it has what others have worked out for it.
struct completed_rows {
  device_matrix a;                 ///< sorted: own columns first, behind them those of others that occur, ascending
  far_rows<double> far;            ///< see rows_there
  gpu_array<std::int32_t> columns; ///< these, with the numbers that all ranks have
};
/// part: the rank's share, its own rows first, with the columns of `names`, own ones first; rows behind these are left
/// out. To row to[k] row k of `came` is added, in that order. Only rows that get some, or reach into columns of others,
/// are added up and sorted; the others are copied: a pass over `part`, and small products.
completed_rows completed(const device_matrix& part, const columns_there& names, const loose_rows_there& came,
                         const gpu_array<std::int32_t>& to);

/// In host memory, with the columns of all.
coo<double> brought_home(const rows_there& rows);

} // namespace furrow::amg
