// SPDX-License-Identifier: BSD-3-Clause
// What ranks have worked out of each other's rows of P'A P is added up.
#include "gpu_rows.hpp"

#include "backends/gpu/primitives.hpp"
#include "matrix/gpu_products.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace furrow::amg {
namespace gpu_completed {

struct mark_far {
  const std::int32_t* col;
  index_t own;
  std::uint8_t* mark;
  FURROW_HD void operator()(index_t i, index_t k) const {
    if (col[k] >= own) mark[i] = 1;
  }
};
struct mark_row {
  const std::int32_t* row;
  std::uint8_t* mark;
  FURROW_HD void operator()(index_t k) const { mark[row[k]] = 1; }
};
struct rename {
  named_columns names, before;
  std::int32_t* col;
  FURROW_HD void operator()(index_t k) const { col[k] = names.local_of(before.global_of(col[k])); }
};

/// The matrix that adds rows up: row r takes row r, and behind it those of `which` whose numbers in `sorted` are
/// row[r], as they follow each other there; they lie behind `rows` others.
struct length_of_sum {
  const std::int32_t *row, *sorted;
  index_t count;
  index_t* length;
  FURROW_HD void operator()(index_t r) const {
    length[r] = 1 + first_not_below(sorted, count, row[r] + 1) - first_not_below(sorted, count, row[r]);
  }
};
struct put_sum {
  const std::int32_t *row, *sorted, *which;
  index_t count, rows;
  const index_t* offset;
  std::int32_t* col;
  double* val;
  FURROW_HD void operator()(index_t r) const {
    index_t to = offset[r];
    col[to] = static_cast<std::int32_t>(r), val[to] = 1;
    for (index_t k = first_not_below(sorted, count, row[r]); k < count && sorted[k] == row[r]; ++k) {
      ++to;
      col[to] = static_cast<std::int32_t>(rows + which[k]), val[to] = 1;
    }
  }
};

/// Lengths of rows of which some were added up.
struct length_of_row {
  const index_t *begins, *of_sum;
  const std::uint8_t* mark;
  const std::int32_t* row;
  index_t rows;
  index_t* length;
  FURROW_HD void operator()(index_t i) const {
    length[i] = begins[i + 1] - begins[i];
    if (!mark[i]) return;
    const index_t r = first_not_below(row, rows, static_cast<std::int32_t>(i));
    length[i] = of_sum[r + 1] - of_sum[r];
  }
};
struct put_row {
  device_view from;
  const std::uint8_t* mark; ///< rows that are left out
  const index_t* to;
  std::int32_t* col;
  double* val;
  FURROW_HD void operator()(index_t i, index_t k) const {
    if (mark[i]) return;
    const index_t place = to[i] + (k - from.row_ptr[i]);
    col[place] = from.col[k], val[place] = from.val[k];
  }
};
struct put_sum_of_row {
  device_view from;
  const std::int32_t* row;
  const index_t* to;
  std::int32_t* col;
  double* val;
  FURROW_HD void operator()(index_t r, index_t k) const {
    const index_t place = to[row[r]] + (k - from.row_ptr[r]);
    col[place] = from.col[k], val[place] = from.val[k];
  }
};
/// Columns of others in either, ascending.
inline gpu_array<std::int32_t> columns_of_others(const device_matrix& some, const columns_there& names,
                                                 const loose_rows_there& came) {
  gpu_array<std::int32_t> col(some.col.size() + came.col.size());
  name_for_all(as_cview(some.col), names.seen(), col.data());
  gpu_memory::copy(col.data() + some.col.size(), came.col.data(), came.col.byte_count());
  return others_among(as_cview(col), {names.first, names.own, {}, {}});
}

/// Row k of `all` for each element of `row`, and to it those behind them whose number in `to` it is.
inline device_matrix added(const device_matrix& all, const gpu_array<std::int32_t>& row,
                           const gpu_array<std::int32_t>& to, index_t rows_of_rank) {
  const index_t m = row.size(), h = to.size();
  if (m == 0) return empty_rows({0, all.shape.cols});
  gpu_array<std::int32_t> sorted(to), which(h);
  gpu::for_each(h, gpu::count_up<std::int32_t>{which.data()});
  if (h > 0) gpu::sort_pairs(sorted, which, std::bit_width(static_cast<std::uint64_t>(rows_of_rank)));
  device_matrix sums{{m, m + h}, gpu_array<index_t>(m + 1), {}, {}};
  gpu::for_each(m, length_of_sum{row.data(), sorted.data(), h, sums.row_ptr.data()});
  const index_t nnz = gpu::to_offsets(sums.row_ptr);
  sums.col = gpu_array<std::int32_t>(nnz), sums.val = gpu_array<double>(nnz);
  gpu::for_each(
      m, put_sum{row.data(), sorted.data(), which.data(), h, m, sums.row_ptr.data(), sums.col.data(), sums.val.data()});
  return gpu::multiply(sums, all, gpu::row_order::sorted);
}

} // namespace gpu_completed

completed_rows completed(const device_matrix& part, const columns_there& names, const loose_rows_there& came,
                         const gpu_array<std::int32_t>& to) {
  using namespace gpu_completed;
  const index_t rows = names.own;
  completed_rows all;
  if (rows == 0) {
    all.a = empty_rows({0, 0}), all.far = far_block(all.a, 0, 0);
    return all;
  }
  const index_t nnz = gpu::fetch(part.row_ptr.data() + rows);
  gpu_array<std::uint8_t> mark(rows);
  gpu::fill_bytes(mark, 0);
  gpu::for_each_entry(rows, part.row_ptr.data(), nnz, mark_far{part.col.data(), rows, mark.data()});
  gpu::for_each(to.size(), mark_row{to.data(), mark.data()});
  gpu_array<std::int32_t> row(rows);
  row.resize(gpu::marked_places(mark, row));

  device_matrix some = picked_rows(part, row);
  all.columns = columns_of_others(some, names, came);
  const columns_there wide{names.first, rows, all.columns, {}};
  gpu::for_each(some.col.size(), rename{wide.seen(), names.seen(), some.col.data()});
  append(some, named(came, wide));
  const device_matrix sums = added(some, row, to, rows);
  all.far = far_block_of(sums, row, rows);

  all.a = {{rows, wide.count()}, gpu_array<index_t>(rows + 1), {}, {}};
  gpu::for_each(rows, length_of_row{part.row_ptr.data(), sums.row_ptr.data(), mark.data(), row.data(), row.size(),
                                    all.a.row_ptr.data()});
  const index_t entries = gpu::to_offsets(all.a.row_ptr);
  all.a.col = gpu_array<std::int32_t>(entries), all.a.val = gpu_array<double>(entries);
  gpu::for_each_entry(rows, part.row_ptr.data(), nnz,
                      put_row{view_of(part), mark.data(), all.a.row_ptr.data(), all.a.col.data(), all.a.val.data()});
  gpu::for_each_entry(
      row.size(), sums.row_ptr.data(), sums.val.size(),
      put_sum_of_row{view_of(sums), row.data(), all.a.row_ptr.data(), all.a.col.data(), all.a.val.data()});
  return all;
}

} // namespace furrow::amg
