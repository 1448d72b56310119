// SPDX-License-Identifier: BSD-3-Clause
#include "incomplete_lu.hpp"

#include "backends/cpu/parallel.hpp"
#include "matrix/cuthill_mckee.hpp"
#include "matrix/matching.hpp"
#include "stop.hpp"
#include "swept_factors.hpp"

#include <furrow/value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace furrow {
namespace {

constexpr index_t grain = 1 << 14;

/// Throws a `refusal` where the inverse of a pivot leaves the range of V.
template <class V> host_array<V> inverse_pivots(const lu_factors& f) {
  host_array<V> inverse(f.rows.shape.rows);
  for (index_t i = 0; i < inverse.size(); ++i) {
    const double pivot = f.rows.val[f.pivot[i]];
    inverse[i] = static_cast<V>(1 / pivot);
    if (!std::isfinite(inverse[i]) || inverse[i] == 0)
      throw refusal{status::breakdown, fmt::format("pivot {} of the incomplete factors is {:.3g}, whose inverse is out "
                                                   "of range: scale the matrix, or take the order matched",
                                                   i + 1, pivot)};
  }
  return inverse;
}

/// The order and the scales of `elimination_order::matched`, and words about them.
template <class V> arrangement match(row_view<V> a, std::string& about) {
  constexpr double most = is_wide<V> ? 1e150 : 1e15; // M r stays in the range of V
  auto h = match_heavy_diagonal(a, [] { stops_set_up::at_row(0); });
  const index_t n = a.shape.rows;
  for (auto* scales : {&h.row_scale, &h.col_scale})
    for (double& s : *scales) s = std::clamp(s, 1 / most, most);
  arrangement matched{std::move(h.row_of), {}, std::move(h.row_scale), std::move(h.col_scale)};
  about = "rows matched to columns and scaled";
  if (h.rank < n)
    about += fmt::format("; structurally singular, rank {} of {}: row {} has no pair", h.rank, n, h.unpaired + 1);
  stops_set_up::at_row(0);
  const auto neighbours = neighbours_of(arranged(a, matched).view());
  stops_set_up::at_row(0);
  const auto order = reverse_cuthill_mckee(neighbours);
  stops_set_up::at_row(0);
  host_array<std::int32_t> row(n);
  for (index_t i = 0; i < n; ++i) row[i] = matched.row[order[i]];
  matched.row = std::move(row);
  matched.place = inverse_permutation(as_cview(order));
  return matched;
}

/// f(A as it stands, in double).
template <class V, class F> auto in_double(row_view<V> a, F&& f) {
  if constexpr (is_wide<V>) return f(a);
  else return f(arranged(a, {}).view());
}

/// The factors of A as it stands, where they are good.
template <class V> std::optional<lu_factors> good_as_it_stands(row_view<V> a, const factoriser& factorise) {
  constexpr double most = 1e6;
  if (has_weak_diagonal(a)) return {};
  return in_double(a, [&](row_view<double> b) -> std::optional<lu_factors> {
    stops_set_up::at_row(0);
    lu_factors f = factorise(b, 0);
    if (f.replaced > 0 || growth(b, f) > most) return {};
    return f;
  });
}

std::string about_numbers(const lu_factors& f, const arrangement& moved) {
  std::string about;
  if (f.shift > 0) about += fmt::format("; the factors exploded until the diagonal was shifted by {:g}", f.shift);
  if (f.replaced > 0)
    about += fmt::format("; {} pivot{} too small and replaced, the first in row {}", f.replaced,
                         f.replaced == 1 ? " was" : "s were",
                         1 + (moved.row.empty() ? f.first_replaced : index_t(moved.row[f.first_replaced])));
  return about;
}

} // namespace

namespace {

/// One of the factors beside its diagonal; `value` makes of each entry, by its place in f and its row, what is kept.
template <class V, class F> row_matrix<V> part_of(const lu_factors& f, triangle side, F value) {
  const index_t n = f.rows.shape.rows;
  const auto first = [&](index_t i) { return side == triangle::lower ? f.rows.row_ptr[i] : f.pivot[i] + 1; };
  const auto last = [&](index_t i) { return side == triangle::lower ? f.pivot[i] : f.rows.row_ptr[i + 1]; };
  row_matrix<V> part{f.rows.shape, host_array<index_t>(n + 1), {}, {}};
  part.row_ptr[0] = 0;
  for (index_t i = 0; i < n; ++i) part.row_ptr[i + 1] = part.row_ptr[i] + last(i) - first(i);
  part.col.resize(part.row_ptr[n]);
  part.val.resize(part.row_ptr[n]);
  for (index_t i = 0; i < n; ++i) {
    stops_set_up::at_row(i);
    for (index_t k = first(i), to = part.row_ptr[i]; k < last(i); ++k, ++to) {
      part.col[to] = f.rows.col[k];
      part.val[to] = static_cast<V>(value(k, i));
    }
  }
  return part;
}

/// L U = D (I + N) (I + N'') with N = D^-1 L D and N'' = D^-1 U, L and U beside their diagonals: both halves have the
/// scales of the rows of U, and D^-1 becomes a scale of the rows of M's input.
template <class V> unit_factors<V> with_unit_diagonals(const lu_factors& f, arrangement moved, std::string about) {
  const auto pivot = [&](index_t i) { return f.rows.val[f.pivot[i]]; };
  unit_factors<V> u{part_of<V>(f, triangle::lower,
                               [&](index_t k, index_t i) { return f.rows.val[k] * (pivot(f.rows.col[k]) / pivot(i)); }),
                    part_of<V>(f, triangle::upper, [&](index_t k, index_t i) { return f.rows.val[k] / pivot(i); }),
                    std::move(moved), std::move(about)};
  const index_t n = f.rows.shape.rows;
  if (u.moved.row_scale.empty()) u.moved.row_scale = host_array<double>(n, 1.0);
  for (index_t i = 0; i < n; ++i) u.moved.row_scale[u.moved.row.empty() ? i : index_t(u.moved.row[i])] /= pivot(i);
  return u;
}

} // namespace

template <class V> row_matrix<V> strict_part(const lu_factors& f, triangle side) {
  return part_of<V>(f, side, [&](index_t k, index_t) { return f.rows.val[k]; });
}

template <class V>
incomplete_lu<V>::incomplete_lu(triangular_factors<V> f)
    : lower_(std::move(f.lower), std::move(f.lower_inverse), triangle::lower),
      upper_(std::move(f.upper), std::move(f.upper_inverse), triangle::upper), moved_(std::move(f.moved)),
      about_(std::move(f.about)), work_(moved_.row.empty() ? 0 : moved_.row.size()) {}

template <class V> void incomplete_lu<V>::apply(cview<V> r, view<V> z) const {
  const bool moves = !moved_.row.empty();
  const view<V> w = moves ? as_view(work_) : z;
  cpu::for_each_range(r.size, grain, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i)
      w[i] = moves ? static_cast<V>(moved_.row_scale[moved_.row[i]] * double(r[moved_.row[i]])) : r[i];
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
std::unique_ptr<any_preconditioner<V>> make_incomplete_lu(const coo<V>& a, std::string_view name,
                                                          elimination_order order, const factoriser& factorise,
                                                          index_t sweeps, device where) {
  stops_set_up::at_row(0);
  const rows_of_triplets<V> triplets(a);
  const row_view<V> rows = triplets.view();
  stops_set_up::at_row(0);
  const auto finish = [&](const lu_factors& f, arrangement moved,
                          const std::string& about) -> std::unique_ptr<any_preconditioner<V>> {
    const double each = double(f.rows.nnz()) / double(std::max<index_t>(a.shape.rows, 1));
    auto all = fmt::format("{}: {}{}; {:.1f} entries a row", name, about, about_numbers(f, moved), each);
    auto inverse = inverse_pivots<V>(f); // throws where a pivot has none, for sweeps too
    if (sweeps > 0) return make_swept(with_unit_diagonals<V>(f, std::move(moved), std::move(all)), sweeps, name, where);
    triangular_factors<V> t{strict_part<V>(f, triangle::lower),
                            strict_part<V>(f, triangle::upper),
                            {},
                            std::move(inverse),
                            std::move(moved),
                            std::move(all)};
    return make_factored<V>(std::move(t), where);
  };
  constexpr auto* as_they_stand = "rows as they stand";
  if (order == elimination_order::automatic)
    if (const auto f = good_as_it_stands(rows, factorise)) return finish(*f, {}, as_they_stand);
  if (order == elimination_order::natural)
    return in_double(rows, [&](row_view<double> b) { return finish(stable_factors(b, factorise), {}, as_they_stand); });
  std::string about;
  arrangement moved = match(rows, about);
  const lu_factors f = stable_factors(arranged(rows, moved).view(), factorise);
  return finish(f, std::move(moved), about);
}

preconditioner_layout layout_of_incomplete_lu(const stats& s, precision p, double entries, index_t sweeps) {
  const double n = double(s.shape.rows), nnz = double(s.nnz);
  entries = std::min(entries, n * n);
  if (sweeps > 0) {
    preconditioner_layout l = layout_of_swept(n, p, entries);
    l.making += l.bytes + 12 * (nnz + entries) + 16 * n;
    return l;
  }
  const double arrangement = 2 * 4 + 2 * 8, triangles = 2 * (8 + 4), pivots_and_work = 2 * bytes_of(p);
  const double kept = (4 + bytes_of(p)) * entries + n * (arrangement + triangles + pivots_and_work);
  return {kept, kept + 12 * (nnz + entries) + 16 * n, false};
}

#define FURROW_INSTANTIATE(V)                                                                                          \
  template row_matrix<V> strict_part(const lu_factors&, triangle);                                                     \
  template class incomplete_lu<V>;                                                                                     \
  template std::unique_ptr<any_preconditioner<V>> make_incomplete_lu(                                                  \
      const coo<V>&, std::string_view, elimination_order, const factoriser&, index_t, device)
FURROW_INSTANTIATE(double);
FURROW_INSTANTIATE(float);
#undef FURROW_INSTANTIATE

} // namespace furrow
