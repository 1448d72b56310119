// SPDX-License-Identifier: BSD-3-Clause
#include "coarsening.hpp"

#include "distributed/halo.hpp"
#include "distributed/together.hpp"
#include "matrix/multiply.hpp"
#include "matrix/transpose.hpp"
#include "preconditioners/amg/aggregates.hpp"
#include "preconditioners/amg/prolongation.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace furrow::amg {
namespace {

row_matrix<double> empty_rows(index_t rows, index_t cols) {
  return {{rows, cols}, host_array<index_t>(rows + 1, 0), {}, {}};
}

/// The rank's own block, its diagonal with what lies in columns of others.
row_matrix<double> own_with_far_on_diagonal(const rows_of_rank<double>& a) {
  row_matrix<double> own = to_rows(coo<double>(a.own));
  host_array<double> far(own.shape.rows, 0.0);
  for (index_t k = 0; k < a.far.nnz(); ++k) far[a.far_rows[a.far.row[k]]] += a.far.val[k];
  for (index_t i = 0; i < own.shape.rows; ++i)
    for (index_t k = own.row_ptr[i]; k < own.row_ptr[i + 1]; ++k)
      if (own.col[k] == i && own.val[k] + far[i] >= least_share * own.val[k]) own.val[k] += far[i];
  return own;
}

/// Rows of P of the elements that a product needs from others, behind one's own: their columns are numbered behind the
/// `own` ones, ascending; `far` says which of all those are.
struct rows_of_p {
  row_matrix<double> p;
  std::vector<std::int32_t> far;
};

/// Where the entries of each share of some rows begin and end, in what is sent or comes for all of them.
std::vector<index_t> ends_of(const std::vector<halo_plan::share>& shares, cview<std::int32_t> lengths) {
  std::vector<index_t> ends{0};
  for (const auto& s : shares) {
    index_t sum = ends.back();
    for (index_t k = s.first; k < s.first + s.count; ++k) sum += lengths[k];
    ends.push_back(sum);
  }
  return ends;
}

/// What the shares of some rows hold goes to those who need them.
template <class T>
void exchange(communicator& c, const halo_plan& plan, cview<T> from, const std::vector<index_t>& sent, view<T> to,
              const std::vector<index_t>& come) {
  std::vector<outgoing> out;
  std::vector<incoming> in;
  for (std::size_t k = 0; k < plan.sends.size(); ++k)
    if (const index_t count = sent[k + 1] - sent[k]; count > 0)
      out.push_back({plan.sends[k].rank, bytes_of(cview<T>(from.data + sent[k], count))});
  for (std::size_t k = 0; k < plan.receives.size(); ++k)
    if (const index_t count = come[k + 1] - come[k]; count > 0)
      in.push_back({plan.receives[k].rank, bytes_of(view<T>(to.data + come[k], count))});
  c.start(out, in);
  c.finish();
}

rows_of_p with_rows_of_others(communicator& c, const halo_plan& plan, const row_matrix<double>& p, index_t first) {
  const index_t n = p.shape.rows, own = p.shape.cols, h = plan.columns.size();
  host_array<std::int32_t> length(n), sent_length(plan.rows_sent.size());
  for (index_t i = 0; i < n; ++i) length[i] = static_cast<std::int32_t>(p.row_ptr[i + 1] - p.row_ptr[i]);
  for (index_t k = 0; k < sent_length.size(); ++k) sent_length[k] = length[plan.rows_sent[k]];
  halo<std::int32_t> lengths(c, plan);
  lengths.start(as_cview(length));
  const cview<std::int32_t> come_length = lengths.finish();
  const auto sent = ends_of(plan.sends, as_cview(sent_length)), come = ends_of(plan.receives, come_length);
  host_array<std::int32_t> col(sent.back()), come_col(come.back());
  host_array<double> val(sent.back()), come_val(come.back());
  index_t at = 0;
  for (const std::int32_t i : plan.rows_sent)
    for (index_t k = p.row_ptr[i]; k < p.row_ptr[i + 1]; ++k, ++at)
      col[at] = static_cast<std::int32_t>(first) + p.col[k], val[at] = p.val[k];
  exchange(c, plan, as_cview(col), sent, as_view(come_col), come);
  exchange(c, plan, as_cview(val), sent, as_view(come_val), come);

  rows_of_p all{empty_rows(n + h, 0), {come_col.begin(), come_col.end()}};
  std::ranges::sort(all.far);
  all.far.erase(std::unique(all.far.begin(), all.far.end()), all.far.end());
  all.p.shape.cols = own + static_cast<index_t>(all.far.size());
  std::copy(p.row_ptr.begin(), p.row_ptr.end(), all.p.row_ptr.begin());
  for (index_t k = 0; k < h; ++k) all.p.row_ptr[n + k + 1] = all.p.row_ptr[n + k] + come_length[k];
  all.p.col = host_array<std::int32_t>(p.nnz() + come.back());
  all.p.val = host_array<double>(p.nnz() + come.back());
  std::copy(p.col.begin(), p.col.end(), all.p.col.begin());
  std::copy(p.val.begin(), p.val.end(), all.p.val.begin());
  for (index_t k = 0; k < come.back(); ++k) {
    const auto place = std::ranges::lower_bound(all.far, come_col[k]) - all.far.begin();
    all.p.col[p.nnz() + k] = static_cast<std::int32_t>(own + place);
    all.p.val[p.nnz() + k] = come_val[k];
  }
  return all;
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
  coarsened to;
  to.p = empty_rows(a.own.shape.rows, 0);
  together(c, [&] {
    if (a.own.shape.rows == 0) return;
    const row_matrix<double> own = own_with_far_on_diagonal(a);
    const node_matrix m{own.view(), 1};
    const strong_graph strong = strong_couplings(m, theta);
    const aggregates found = aggregates_of(strong, independent_at_distance_two(strong));
    to.p = smoothed_prolongation(m, strong, found, inverse, omega);
  });
  index_t first = 0, rank = 0;
  for (const index_t mine : gather_each(c, to.p.shape.cols)) {
    if (rank++ < c.rank()) first += mine;
    to.count += mine;
  }
  if (to.count == 0 || double(to.count) > most) return to;
  const rows_of_p all = with_rows_of_others(c, a.plan, to.p, first);
  together(c, [&] {
    if (to.p.shape.cols == 0) {
      to.r = empty_rows(0, to.p.shape.rows);
      to.rows = {{0, to.count}, {}, {}, {}};
      return;
    }
    to.r = transposed(to.p.view());
    to.rows = with_global_columns(to_triplets(triple_product(to.r.view(), joined(a).view(), all.p.view())), first,
                                  cview<std::int32_t>(all.far), to.count);
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
