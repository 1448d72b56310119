// SPDX-License-Identifier: BSD-3-Clause
#include "incomplete_lu.hpp"

#include "backends/cpu/parallel.hpp"
#include "core/check.hpp"
#include "matrix/cuthill_mckee.hpp"
#include "matrix/matching.hpp"

#include <furrow/device.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow {
namespace {

constexpr index_t grain = 1 << 14;

/// One of the factors in the precision of the solver.
template <class V> row_matrix<V> strict_part(const lu_factors& f, triangle side) {
  const index_t n = f.rows.shape.rows;
  const auto first = [&](index_t i) { return side == triangle::lower ? f.rows.row_ptr[i] : f.pivot[i] + 1; };
  const auto last = [&](index_t i) { return side == triangle::lower ? f.pivot[i] : f.rows.row_ptr[i + 1]; };
  row_matrix<V> part{f.rows.shape, host_array<index_t>(n + 1), {}, {}};
  part.row_ptr[0] = 0;
  for (index_t i = 0; i < n; ++i) part.row_ptr[i + 1] = part.row_ptr[i] + last(i) - first(i);
  part.col.resize(part.row_ptr[n]);
  part.val.resize(part.row_ptr[n]);
  for (index_t i = 0; i < n; ++i)
    for (index_t k = first(i), to = part.row_ptr[i]; k < last(i); ++k, ++to) {
      part.col[to] = f.rows.col[k];
      part.val[to] = static_cast<V>(f.rows.val[k]);
    }
  return part;
}

template <class V> host_array<V> inverse_pivots(const lu_factors& f) {
  host_array<V> inverse(f.rows.shape.rows);
  for (index_t i = 0; i < inverse.size(); ++i) inverse[i] = static_cast<V>(1 / f.rows.val[f.pivot[i]]);
  return inverse;
}

/// The order and the scales of `elimination_order::matched`, and a sentence about them.
template <class V> arrangement match(row_view<V> a, std::string& about) {
  auto h = match_heavy_diagonal(a);
  const index_t n = a.shape.rows;
  arrangement matched{std::move(h.row_of), {}, std::move(h.row_scale), std::move(h.col_scale)};
  about = "rows matched to columns, scaled, ordered by Cuthill and McKee";
  if (h.rank < n)
    about += fmt::format("; structurally singular, rank {} of {}: row {} has no pair", h.rank, n, h.unpaired + 1);
  const auto b = arranged(a, matched);
  const auto order = reverse_cuthill_mckee(neighbours_of(b.view()));
  host_array<std::int32_t> row(n);
  for (index_t i = 0; i < n; ++i) row[i] = matched.row[order[i]];
  matched.row = std::move(row);
  matched.place = inverse_permutation(as_cview(order));
  return matched;
}

} // namespace

elimination_order order_from(const entry_parameters& p, std::size_t k) {
  if (!p.has(k) || p.word(k) == "auto") return elimination_order::automatic;
  if (p.word(k) == "natural") return elimination_order::natural;
  if (p.word(k) == "matched") return elimination_order::matched;
  p.refuse("the order is auto, natural or matched");
}

template <class V> bool wants_matching(row_view<V> a) {
  index_t dominant = 0;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (index_t i = 0; i < a.shape.rows; ++i) {
    double diagonal = 0, others = 0, size = 0;
    for (index_t k = a.begin(i); k < a.end(i); ++k) {
      const double v = std::abs(double(a.val[k]));
      size = std::max(size, v);
      (a.col[k] == i ? diagonal : others) += v;
    }
    if (diagonal <= 1e-10 * size) return true;
    dominant += diagonal >= others;
    least = std::min(least, size);
    most = std::max(most, size);
  }
  return 3 * dominant < a.shape.rows || most > 1e8 * least;
}

double safe_pivot(double pivot, double size, index_t row, lu_factors& f) {
  constexpr double least = 1e-10, instead = 1e-4;
  if (std::abs(pivot) >= least * size && pivot != 0) return pivot;
  if (f.replaced++ == 0) f.first_replaced = row;
  return std::copysign(size > 0 ? instead * size : 1.0, pivot);
}

void check_fill(double bytes, std::string_view who) {
  const double available = double(available_host_memory());
  check(bytes <= available, fault::memory,
        "the factors of {} take {:.3g} GB more than they have, of {:.3g} GB that can be had: take a lower level or "
        "less fill",
        who, bytes * 1e-9, available * 1e-9);
}

template <class V>
incomplete_lu<V>::incomplete_lu(lu_factors f, arrangement moved, std::string about)
    : moved_(std::move(moved)), about_(std::move(about)), work_(moved_.row.empty() ? 0 : f.rows.shape.rows) {
  lower_ = {strict_part<V>(f, triangle::lower), {}, triangle::lower};
  upper_ = {strict_part<V>(f, triangle::upper), inverse_pivots<V>(f), triangle::upper};
}

template <class V> void incomplete_lu<V>::apply(cview<V> r, view<V> z) const {
  const bool moves = !moved_.row.empty();
  const view<V> w = moves ? as_view(work_) : z;
  cpu::for_each_range(r.size, grain, [&](index_t first, index_t last) {
    if (!moves) std::copy(r.data + first, r.data + last, w.data + first);
    else
      for (index_t i = first; i < last; ++i)
        w[i] = static_cast<V>(moved_.row_scale[moved_.row[i]] * double(r[moved_.row[i]]));
  });
  lower_.solve(w);
  upper_.solve(w);
  if (!moves) return;
  cpu::for_each_range(r.size, grain, [&](index_t first, index_t last) {
    for (index_t j = first; j < last; ++j) z[j] = static_cast<V>(moved_.col_scale[j] * double(w[moved_.place[j]]));
  });
}

template <class V> double incomplete_lu<V>::stored_bytes() const {
  return lower_.stored_bytes() + upper_.stored_bytes() +
         double(moved_.row.byte_count() + moved_.place.byte_count() + moved_.row_scale.byte_count() +
                moved_.col_scale.byte_count() + work_.byte_count());
}

template <class V>
std::unique_ptr<any_preconditioner<V>>
make_incomplete_lu(const coo<V>& a, std::string_view name, elimination_order order,
                   const std::function<lu_factors(row_view<double>)>& factorise) {
  const rows_of_triplets<V> triplets(a);
  const row_view<V> rows = triplets.view();
  std::string about = "rows as they stand";
  arrangement moved;
  const bool match_first =
      order == elimination_order::matched || (order == elimination_order::automatic && wants_matching(rows));
  if (match_first) moved = match(rows, about);
  lu_factors f;
  if constexpr (sizeof(V) == 8) f = match_first ? factorise(arranged(rows, moved).view()) : factorise(rows);
  else f = factorise(arranged(rows, moved).view());
  if (f.replaced > 0)
    about += fmt::format("; {} pivot{} too small and replaced, the first in row {}", f.replaced,
                         f.replaced == 1 ? " was" : "s were",
                         1 + (match_first ? index_t(moved.row[f.first_replaced]) : f.first_replaced));
  about = fmt::format("{}: {}, {:.3g} entries a row", name, about,
                      double(f.rows.nnz()) / double(std::max<index_t>(a.shape.rows, 1)));
  return std::make_unique<incomplete_lu<V>>(std::move(f), std::move(moved), std::move(about));
}

#define FURROW_INSTANTIATE(V)                                                                                          \
  template bool wants_matching(row_view<V>);                                                                           \
  template class incomplete_lu<V>;                                                                                     \
  template std::unique_ptr<any_preconditioner<V>> make_incomplete_lu(                                                  \
      const coo<V>&, std::string_view, elimination_order, const std::function<lu_factors(row_view<double>)>&)
FURROW_INSTANTIATE(double);
FURROW_INSTANTIATE(float);
#undef FURROW_INSTANTIATE

} // namespace furrow
