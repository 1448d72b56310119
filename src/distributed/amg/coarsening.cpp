// SPDX-License-Identifier: BSD-3-Clause
#include "coarsening.hpp"

#include "loose_rows.hpp"

#include "distributed/together.hpp"
#include "matrix/multiply.hpp"
#include "matrix/transpose.hpp"
#include "preconditioners/amg/aggregates.hpp"
#include "preconditioners/amg/prolongation.hpp"
#include "preconditioners/stop.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

namespace furrow::amg {
namespace {

row_matrix<double> empty_rows(index_t rows, index_t cols) {
  return {{rows, cols}, host_array<index_t>(rows + 1, 0), {}, {}};
}

/// 1 / sqrt(|A_ii|) of the rank's rows, 0 where there is no such entry.
host_array<double> scales_of(row_view<double> a) {
  host_array<double> scale(a.shape.rows, 0.0);
  for (index_t i = 0; i < a.shape.rows; ++i)
    for (index_t k = a.begin(i); k < a.end(i); ++k)
      if (a.col[k] == i && a.val[k] != 0) scale[i] = 1 / std::sqrt(std::abs(a.val[k]));
  return scale;
}

template <class T> host_array<T> picked(const host_array<T>& from, const host_array<std::int32_t>& places) {
  host_array<T> to(places.size());
  for (index_t k = 0; k < to.size(); ++k) to[k] = from[places[k]];
  return to;
}
template <class T> host_array<T> side_by_side(const host_array<T>& own, const host_array<T>& others) {
  host_array<T> all(own.size() + others.size());
  std::copy(own.begin(), own.end(), all.begin());
  std::copy(others.begin(), others.end(), all.data() + own.size());
  return all;
}

/// The rows that `at` names, with the columns of all.
template <class At> loose_rows taken_out(const row_matrix<double>& a, const rank_columns& names, index_t rows, At at) {
  loose_rows to{host_array<std::int32_t>(rows), {}, {}};
  index_t count = 0, next = 0;
  for (index_t k = 0; k < rows; ++k)
    count += to.length[k] = static_cast<std::int32_t>(a.row_ptr[at(k) + 1] - a.row_ptr[at(k)]);
  to.col = host_array<std::int32_t>(count), to.val = host_array<double>(count);
  for (index_t k = 0; k < rows; ++k)
    for (index_t e = a.row_ptr[at(k)]; e < a.row_ptr[at(k) + 1]; ++e, ++next)
      to.col[next] = names.global_of(a.col[e]), to.val[next] = a.val[e];
  return to;
}

/// The first `rows` of a, whose columns get the names that they have in `wider`, and behind them the loose ones.
row_matrix<double> stacked(const row_matrix<double>& a, index_t rows, const rank_columns& names,
                           const rank_columns& wider, const loose_rows& more) {
  const index_t h = more.length.size(), nnz = a.row_ptr[rows];
  const host_array<std::int32_t> places = names.others_in(wider);
  row_matrix<double> all = empty_rows(rows + h, wider.count());
  std::copy_n(a.row_ptr.begin(), rows + 1, all.row_ptr.begin());
  for (index_t k = 0; k < h; ++k) all.row_ptr[rows + k + 1] = all.row_ptr[rows + k] + more.length[k];
  all.col = host_array<std::int32_t>(nnz + more.col.size()), all.val = host_array<double>(nnz + more.val.size());
  cpu::for_each_range(nnz, 1 << 14, [&](index_t first, index_t last) {
    for (index_t e = first; e < last; ++e)
      all.col[e] = a.col[e] < names.own() ? a.col[e] : places[a.col[e] - names.own()], all.val[e] = a.val[e];
  });
  for (index_t e = 0; e < more.col.size(); ++e)
    all.col[nnz + e] = wider.local_of(more.col[e]), all.val[nnz + e] = more.val[e];
  return all;
}

/// The first rows.
row_matrix<double> top_of(row_matrix<double> a, index_t rows) {
  a.shape.rows = rows;
  a.row_ptr.resize(rows + 1);
  a.col.resize(a.row_ptr[rows]), a.val.resize(a.row_ptr[rows]);
  return a;
}

/// Row k of those behind the first `rows` is added to row to[k]: in that order.
row_matrix<double> added(const row_matrix<double>& a, index_t rows, const host_array<std::int32_t>& to) {
  std::vector<std::vector<std::int32_t>> more(static_cast<std::size_t>(rows));
  for (index_t k = 0; k < to.size(); ++k)
    more[static_cast<std::size_t>(to[k])].push_back(static_cast<std::int32_t>(rows + k));
  row_matrix<double> sums{{rows, a.shape.rows},
                          host_array<index_t>(rows + 1, 0),
                          host_array<std::int32_t>(a.shape.rows),
                          host_array<double>(a.shape.rows, 1.0)};
  index_t at = 0;
  for (index_t i = 0; i < rows; ++i) {
    sums.col[at++] = static_cast<std::int32_t>(i);
    for (const std::int32_t k : more[static_cast<std::size_t>(i)]) sums.col[at++] = k;
    sums.row_ptr[i + 1] = at;
  }
  return multiply(sums.view(), a.view());
}

} // namespace

row_matrix<double> joined(const rows_of_rank<double>& a) {
  const index_t n = a.own.shape.rows, nnz = a.own.nnz() + a.far.nnz();
  row_matrix<double> all{{n, n + a.plan.columns.size()},
                         host_array<index_t>(n + 1),
                         host_array<std::int32_t>(nnz),
                         host_array<double>(nnz)};
  index_t at = 0, own = 0, far = 0;
  for (index_t i = 0; i < n; ++i) {
    all.row_ptr[i] = at;
    for (; own < a.own.nnz() && a.own.row[own] == i; ++own, ++at)
      all.col[at] = a.own.col[own], all.val[at] = a.own.val[own];
    for (; far < a.far.nnz() && a.far_rows[a.far.row[far]] == i; ++far, ++at)
      all.col[at] = static_cast<std::int32_t>(n + a.far.col[far]), all.val[at] = a.far.val[far];
  }
  all.row_ptr[n] = at;
  return all;
}

coarsened coarsen_on_ranks(communicator& c, const rows_of_rank<double>& a, const host_array<double>& inverse,
                           double theta, double omega, double most) {
  const index_t n = a.own.shape.rows;
  const auto there = way_of_rows::there(a.plan);
  coarsened to;
  row_matrix<double> wide;
  host_array<double> scale, sent;
  together(c, [&] {
    stops_set_up::at_row(0);
    wide = joined(a);
    scale = scales_of(wide.view()), sent = picked(scale, a.plan.rows_sent);
  });
  scale = side_by_side(scale, exchange_elements(c, there, as_cview(sent)));
  aggregates found{host_array<std::int32_t>(n)};
  together(c, [&] {
    if (n == 0) return;
    const strong_graph inside = strong_couplings(wide.view(), scale, theta, n);
    stops_set_up::at_row(0);
    found = aggregates_of(inside, independent_at_distance_two(inside));
  });
  std::vector<index_t> begins{0};
  for (const index_t count : gather_each(c, found.count)) begins.push_back(begins.back() + count);
  to.count = begins.back();
  if (to.count == 0 || double(to.count) > most) return to;

  // P, with the aggregates of others where a row is coupled to them.
  rank_columns names(begins[static_cast<std::size_t>(c.rank())], found.count);
  host_array<std::int32_t> numbers = picked(found.of, a.plan.rows_sent);
  for (std::int32_t& k : numbers)
    if (k >= 0) k += static_cast<std::int32_t>(names.first());
  numbers = exchange_elements(c, there, as_cview(numbers));
  loose_rows rows_sent;
  together(c, [&] {
    stops_set_up::at_row(0);
    if (omega != 0) {
      std::vector<std::int32_t> some;
      std::ranges::copy_if(numbers, std::back_inserter(some), [](std::int32_t k) { return k >= 0; });
      names = names.with(cview<std::int32_t>(some));
    }
    for (std::int32_t& k : numbers) k = k >= 0 && omega != 0 ? names.local_of(k) : -1;
    const aggregates all{side_by_side(found.of, numbers), names.count()};
    to.p = empty_rows(n, names.count());
    if (n > 0 && all.count > 0)
      to.p = smoothed_prolongation({wide.view(), 1}, strong_couplings(wide.view(), scale, theta, wide.shape.cols), all,
                                   inverse, omega);
    rows_sent = taken_out(to.p, names, a.plan.rows_sent.size(), [&](index_t k) { return a.plan.rows_sent[k]; });
  });
  to.plan = plan_halo(c, begins, names.others());

  // P'A P of what the rank has of both; rows of aggregates of others go to them.
  const loose_rows come = exchange_rows(c, there, rows_sent);
  rank_columns wider;
  row_matrix<double> part;
  loose_rows back;
  together(c, [&] {
    stops_set_up::at_row(0);
    wider = names.with(as_cview(come.col));
    const row_matrix<double> p = stacked(to.p, n, names, wider, come);
    to.r = part = empty_rows(wider.count(), wider.count());
    to.r.shape.cols = p.shape.rows;
    if (names.own() > 0) {
      to.r = transposed(p.view());
      part = triple_product(transposed(top_of(row_matrix<double>(p), n).view()).view(), wide.view(), p.view(),
                            [] { stops_set_up::at_row(0); });
    }
    to.r = top_of(std::move(to.r), names.own());
    back = taken_out(part, wider, wider.others().size(), [&](index_t k) { return names.own() + k; });
  });
  const halo_plan of_others = plan_halo(c, begins, host_array<std::int32_t>(wider.others()));
  const loose_rows mine = exchange_rows(c, way_of_rows::back(of_others), back);
  together(c, [&] {
    stops_set_up::at_row(0);
    const rank_columns all = wider.with(as_cview(mine.col));
    if (names.own() == 0) to.rows = {{0, to.count}, {}, {}, {}};
    else
      to.rows = with_global_columns(
          to_triplets(added(stacked(part, names.own(), wider, all, mine), names.own(), of_others.rows_sent)),
          names.first(), as_cview(all.others()), to.count);
  });
  to.entries = static_cast<index_t>(c.sum(double(to.rows.nnz())));
  return to;
}

coo<double> gather_rows(communicator& c, const coo<double>& mine, const std::vector<index_t>& begins) {
  const auto counts = gather_each(c, mine.nnz());
  const index_t most = std::ranges::max(counts);
  index_t total = 0;
  for (const index_t count : counts) total += count;
  coo<double> all{{begins.back(), begins.back()},
                  host_array<std::int32_t>(total),
                  host_array<std::int32_t>(total),
                  host_array<double>(total)};
  const auto gather = [&](const auto& part, auto& whole) {
    using array = std::remove_cvref_t<decltype(part)>;
    array padded(most, 0), parts(most * c.size());
    std::copy(part.begin(), part.end(), padded.begin());
    c.gather_all(bytes_of(as_cview(padded)), bytes_of(as_view(parts)));
    index_t at = 0;
    for (int r = 0; r < c.size(); ++r) {
      const index_t count = counts[static_cast<std::size_t>(r)];
      std::copy_n(parts.data() + r * most, count, whole.data() + at);
      at += count;
    }
  };
  gather(mine.row, all.row);
  gather(mine.col, all.col);
  gather(mine.val, all.val);
  index_t at = 0;
  for (std::size_t r = 0; r < counts.size(); ++r)
    for (const index_t end = at + counts[r]; at < end; ++at) all.row[at] += static_cast<std::int32_t>(begins[r]);
  return all;
}

} // namespace furrow::amg
