// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "amg_on_gpus.hpp"
#include "loose_rows.hpp"

#include "distributed/gpu/far_rows.hpp"
#include "preconditioners/amg/gpu_coarsening.hpp"
#include "preconditioners/amg/gpu_rounding.hpp"

#include <vector>

/// A rank's rows of a level on its GPU. Enqueued on the current queue, and waited for where sizes are needed. Sums have
/// one order: the same bits on every run.
namespace furrow::amg {

/// With its own columns from 0 on, and behind them those of the plan.
struct rows_there {
  std::vector<index_t> begins; ///< of all ranks
  index_t first = 0;           ///< the first row of this one
  device_matrix a;
  halo_plan plan;
  index_t unknowns() const { return begins.back(); }
};

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

device_matrix empty_rows(shape2 shape);

/// Entries of A side by side, in double.
template <class V> device_matrix joined(const rows_of_gpu<V>& parts);
/// Its entries in columns before `split`, and those of its first `rows` in columns from there on.
device_matrix own_block(const device_matrix& a, index_t split);
far_rows<double> far_block(const device_matrix& a, index_t rows, index_t split);
/// The first rows.
device_matrix top_of(device_matrix a, index_t rows);

/// Elements that a plan sends, in host memory; and one's own with those of others behind them.
template <class T> host_array<T> picked(const gpu_array<T>& from, const host_array<std::int32_t>& places);
template <class T> gpu_array<T> with_others(const gpu_array<T>& own, const host_array<T>& others);

/// Rows of a, in host memory, with the columns of all: those that `places` names, or those from `first` on.
loose_rows picked(const device_matrix& a, const host_array<std::int32_t>& places, const rank_columns& names);
loose_rows taken_out(const device_matrix& a, index_t first, const rank_columns& names);
/// The first `rows` of a, whose columns get the names that they have in `wider`, and behind them the loose ones.
device_matrix stacked(const device_matrix& a, index_t rows, const rank_columns& names, const rank_columns& wider,
                      const loose_rows& more);
/// Row k of those behind the first `rows` is added to row to[k]: in that order.
device_matrix added(const device_matrix& a, index_t rows, const host_array<std::int32_t>& to);

/// In host memory, with the columns of all.
coo<double> brought_home(const rows_there& rows);

} // namespace furrow::amg
