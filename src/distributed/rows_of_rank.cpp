// SPDX-License-Identifier: BSD-3-Clause
#include "rows_of_rank.hpp"

#include "gpu/rows_apart.hpp"
#include "partition.hpp"
#include "together.hpp"
#include "whole_rows.hpp"

#include "core/check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <utility>

namespace furrow {
namespace {

std::vector<index_t> begins_of(communicator& c, shape2 mine) {
  const auto shapes = gather_each(c, mine);
  std::vector<index_t> begins{0};
  for (const shape2 s : shapes) begins.push_back(begins.back() + s.rows);
  together(c, [&] {
    for (std::size_t r = 0; r < shapes.size(); ++r)
      check(shapes[r].cols == begins.back(), fault::input,
            "rank {} has rows of {} columns, but the rows of all {} ranks together are {}: ranks solve square systems",
            r, shapes[r].cols, shapes.size(), begins.back());
  });
  return begins;
}

template <class V> coo<V> room_for(shape2 shape, index_t n) {
  return {shape, host_array<std::int32_t>(n), host_array<std::int32_t>(n), host_array<V>(n)};
}

/// Entries [from, end) of `a` to `to`, from `at` on, with columns from `first` on. `to` may be `a`, and `at` before
/// them.
template <class V>
void copy_run(const coo<V>& a, index_t from, index_t end, coo<V>& to, index_t at, std::int32_t first) {
  if (&a != &to || at != from) {
    std::copy(a.row.begin() + from, a.row.begin() + end, to.row.begin() + at);
    std::copy(a.val.begin() + from, a.val.begin() + end, to.val.begin() + at);
  }
  for (index_t k = from; k < end; ++k) to.col[at + (k - from)] = a.col[k] - first;
}

/// Entries in columns [first, last), numbered from 0 on, stay in `own`, the others go to `far`, in their order. Two
/// passes, the first over columns alone. By one thread, and where nothing is far, in place; by several to new arrays.
template <class V> void split(coo<V>& own, index_t first, index_t last, coo<V>& far) {
  constexpr index_t piece = index_t(1) << 16;
  const index_t n = own.shape.rows, nnz = own.nnz(), pieces = (nnz + piece - 1) / piece;
  const auto begin = static_cast<std::int32_t>(first);
  const auto count = static_cast<std::uint32_t>(last - first);
  const auto is_own = [=](std::int32_t col) { return static_cast<std::uint32_t>(col - begin) < count; };
  std::vector<index_t> own_before(static_cast<std::size_t>(pieces) + 1, 0);
  cpu::for_each_task(pieces, [&](index_t p) {
    index_t near = 0;
    for (index_t k = p * piece, end = std::min(nnz, k + piece); k < end; ++k) near += is_own(own.col[k]);
    own_before[static_cast<std::size_t>(p) + 1] = near;
  });
  for (std::size_t p = 0; p + 1 < own_before.size(); ++p) own_before[p + 1] += own_before[p];
  const index_t near = own_before.back();
  const bool in_place = near == nnz || cpu::thread_count() == 1;
  coo<V> elsewhere = room_for<V>({}, in_place ? 0 : near);
  coo<V>& to = in_place ? own : elsewhere;
  far = room_for<V>({n, last - first}, nnz - near);
  cpu::for_each_task(pieces, [&](index_t p) {
    index_t k = p * piece, own_at = own_before[static_cast<std::size_t>(p)], far_at = k - own_at;
    const index_t end = std::min(nnz, k + piece);
    const bool all_near = own_before[static_cast<std::size_t>(p) + 1] - own_at == end - k;
    while (k < end) { // in runs
      const bool near_one = is_own(own.col[k]);
      index_t stop = all_near ? end : k + 1;
      while (stop < end && is_own(own.col[stop]) == near_one) ++stop;
      if (near_one) copy_run(own, k, stop, to, own_at, begin), own_at += stop - k;
      else copy_run(own, k, stop, far, far_at, 0), far_at += stop - k;
      k = stop;
    }
  });
  if (in_place) own.row.extend(near), own.col.extend(near), own.val.extend(near);
  else own = std::move(elsewhere);
  own.shape = {n, n};
}

/// Columns of others, ascending, each once: by a bit for each column between the first and the last, where that takes
/// less memory than the columns themselves. 810,000, nine a row of a border of 300 x 300, take 2 ms in place of 100 by
/// a sort; one a row, which a sort finds in order, 0.3 in place of 0.7.
host_array<std::int32_t> each_once(const host_array<std::int32_t>& columns) {
  if (columns.empty()) return {};
  const auto [least, most] = std::ranges::minmax(columns);
  const auto low = index_t(least), words = (index_t(most) - low) / 64 + 1;
  if (2 * words <= columns.size()) {
    std::vector<std::uint64_t> marks(static_cast<std::size_t>(words));
    for (const index_t j : columns)
      marks[static_cast<std::size_t>((j - low) / 64)] |= std::uint64_t(1) << (j - low) % 64;
    index_t count = 0, next = 0;
    for (const std::uint64_t w : marks) count += std::popcount(w);
    host_array<std::int32_t> result(count);
    for (index_t w = 0; w < words; ++w)
      for (std::uint64_t left = marks[static_cast<std::size_t>(w)]; left != 0; left &= left - 1)
        result[next++] = static_cast<std::int32_t>(low + 64 * w + std::countr_zero(left));
    return result;
  }
  host_array<std::int32_t> all = columns;
  std::ranges::sort(all);
  host_array<std::int32_t> result(std::unique(all.begin(), all.end()) - all.begin());
  std::copy_n(all.begin(), result.size(), result.begin());
  return result;
}

/// Rows and columns of `far` by their places in `far_rows` and in the plan.
template <class V> void number_far(rows_of_rank<V>& to) {
  const auto& columns = to.plan.columns;
  std::vector<std::int32_t> far_rows;
  for (std::int32_t& row : to.far.row) {
    if (far_rows.empty() || far_rows.back() != row) far_rows.push_back(row);
    row = static_cast<std::int32_t>(far_rows.size()) - 1;
  }
  cpu::for_each_range(to.far.nnz(), 1 << 13, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k)
      to.far.col[k] = static_cast<std::int32_t>(std::ranges::lower_bound(columns, to.far.col[k]) - columns.begin());
  });
  to.far.shape = {static_cast<index_t>(far_rows.size()), columns.size()};
  to.far_rows = host_array<std::int32_t>(to.far.shape.rows);
  std::ranges::copy(far_rows, to.far_rows.begin());
}

/// What is found in rows of one rank.
struct found {
  double norm = 0;
  index_t longest = 0;
  bool finite = true, positive_diagonal = true, full_diagonal = true;

  void add(const found& other) {
    norm = std::max(norm, other.norm), longest = std::max(longest, other.longest);
    finite = finite && other.finite;
    positive_diagonal = positive_diagonal && other.positive_diagonal;
    full_diagonal = full_diagonal && other.full_diagonal;
  }
};

/// Parallel. A row is added up in the order of its own entries, and then of those far away.
template <class V> found look_at(const rows_of_rank<V>& a) {
  const whole_rows<V> rows(a);
  found all;
  std::mutex one_at_a_time;
  cpu::for_each_range(rows.count(), 1 << 12, [&](index_t first, index_t last) {
    found f;
    rows.each(first, last, [&](index_t i, auto own, auto far) {
      double sum = 0, diagonal = 0;
      const auto add = [&](V v) { sum += std::abs(double(v)), f.finite = f.finite && std::isfinite(v); };
      for (index_t k = own.begin; k < own.end; ++k) {
        add(a.own.val[k]);
        if (a.own.col[k] == i) diagonal = double(a.own.val[k]);
      }
      for (index_t k = far.begin; k < far.end; ++k) add(a.far.val[k]);
      f.norm = std::max(f.norm, sum), f.longest = std::max(f.longest, own.size() + far.size());
      f.positive_diagonal = f.positive_diagonal && diagonal > 0;
      f.full_diagonal = f.full_diagonal && diagonal != 0;
    });
    const std::lock_guard alone(one_at_a_time);
    all.add(f);
  });
  return all;
}

/// The rank's own block there, `far` with rows and columns of the whole matrix here.
template <class V> found take_apart_there(matrix_source<V> rows, index_t last, rows_of_rank<V>& to) {
  rows.drop_triplets();
  rows_apart<V> apart = take_apart_on_gpu(rows.rows(), to.first, last, most_diagonals);
  to.far = std::move(apart.far);
  to.look = rows.look_from(to.first), to.diagonals_of_own = std::move(apart.diagonals);
  to.own.shape = {rows.shape().rows, rows.shape().rows};
  to.own_there.emplace(apart.own, rows.where());
  const rows_look& l = to.look;
  return {l.norm_inf, apart.longest_row, l.finite, l.zero_diagonal + l.negative_diagonal == 0, l.zero_diagonal == 0};
}

/// What all ranks together say of what each found.
template <class V> void agree(communicator& c, const found& mine, rows_of_rank<V>& to) {
  found all;
  for (const found& one : gather_each(c, mine)) all.add(one);
  to.norm_inf = all.norm, to.longest_row = all.longest;
  to.finite = all.finite, to.positive_diagonal = all.positive_diagonal, to.full_diagonal = all.full_diagonal;
}

} // namespace

template <class V> rows_of_rank<V> take_apart_rows(communicator& c, coo<V> rows) {
  together(c, [&] { check_triplets(rows); });
  return take_apart_rows(c, matrix_source<V>::on_host(std::move(rows), device{}));
}

template <class V> rows_of_rank<V> take_apart_rows(communicator& c, matrix_source<V> rows) {
  rows_of_rank<V> result;
  result.begins = begins_of(c, rows.shape());
  result.unknowns = result.begins.back();
  result.first = result.begins[static_cast<std::size_t>(c.rank())];
  const index_t last = result.first + rows.shape().rows;
  found mine;
  host_array<std::int32_t> columns;
  together(c, [&] {
    if (rows.has_rows()) mine = take_apart_there(std::move(rows), last, result);
    else result.own = rows.take_triplets(), split(result.own, result.first, last, result.far);
    columns = each_once(result.far.col);
  });
  result.plan = plan_halo(c, result.begins, std::move(columns));
  together(c, [&] {
    number_far(result);
    if (!result.own_there) mine = look_at(result);
  });
  agree(c, mine, result);
  return result;
}

template <class V> double largest_column_sum(communicator& c, const rows_of_rank<V>& a) {
  host_array<double> sum, elsewhere;
  together(c, [&] {
    const coo<V>& own = a.own_there ? a.own_there->triplets() : a.own;
    sum = host_array<double>(own.shape.cols, 0.0), elsewhere = host_array<double>(a.plan.columns.size(), 0.0);
    for (index_t k = 0; k < own.nnz(); ++k) sum[own.col[k]] += std::abs(double(own.val[k]));
    for (index_t k = 0; k < a.far.nnz(); ++k) elsewhere[a.far.col[k]] += std::abs(double(a.far.val[k]));
  });
  halo<double>(c, a.plan).add_back(as_cview(elsewhere), as_view(sum));
  return c.max(sum.empty() ? 0.0 : std::ranges::max(sum));
}

template <class V> double largest_column_sum(communicator& c, const coo<V>& wide, const halo_plan& plan) {
  const index_t own = wide.shape.cols - plan.columns.size();
  host_array<double> sum;
  together(c, [&] {
    sum = host_array<double>(wide.shape.cols, 0.0);
    for (index_t k = 0; k < wide.nnz(); ++k) sum[wide.col[k]] += std::abs(double(wide.val[k]));
  });
  const view<double> mine(sum.data(), own);
  halo<double>(c, plan).add_back(cview<double>(sum.data() + own, plan.columns.size()), mine);
  return c.max(own == 0 ? 0.0 : *std::max_element(mine.begin(), mine.end()));
}

template <class V> coo<V> with_global_columns(coo<V> a, index_t first, cview<std::int32_t> far, index_t columns) {
  const index_t own = a.shape.cols - far.size;
  std::vector<std::pair<std::int32_t, V>> row;
  for (index_t k = 0; k < a.nnz();) {
    row.clear();
    index_t end = k;
    for (; end < a.nnz() && a.row[end] == a.row[k]; ++end) {
      const std::int32_t j = a.col[end];
      row.emplace_back(j < own ? static_cast<std::int32_t>(first) + j : far[j - own], a.val[end]);
    }
    std::ranges::sort(row, {}, &std::pair<std::int32_t, V>::first);
    for (const auto& [col, value] : row) a.col[k] = col, a.val[k++] = value;
  }
  a.shape.cols = columns;
  return a;
}

#define FURROW_ROWS(V)                                                                                                 \
  template coo<V> with_global_columns(coo<V>, index_t, cview<std::int32_t>, index_t);                                  \
  template rows_of_rank<V> take_apart_rows(communicator&, coo<V>);                                                     \
  template rows_of_rank<V> take_apart_rows(communicator&, matrix_source<V>);                                           \
  template double largest_column_sum(communicator&, const rows_of_rank<V>&);                                           \
  template double largest_column_sum(communicator&, const coo<V>&, const halo_plan&);
FURROW_ROWS(double)
FURROW_ROWS(float)
#undef FURROW_ROWS

} // namespace furrow
