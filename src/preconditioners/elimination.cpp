// SPDX-License-Identifier: BSD-3-Clause
#include "elimination.hpp"

#include "core/check.hpp"
#include "core/dominance.hpp"
#include "core/host_room.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace furrow {

elimination_order order_from(const entry_parameters& p, std::size_t k) {
  if (!p.has(k) || p.word(k) == "auto") return elimination_order::automatic;
  if (p.word(k) == "natural") return elimination_order::natural;
  if (p.word(k) == "matched") return elimination_order::matched;
  p.refuse("the order is auto, natural or matched");
}

template <class V> bool has_weak_diagonal(row_view<V> a) {
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
    dominant += dominates(diagonal, others);
    least = std::min(least, size);
    most = std::max(most, size);
  }
  return 3 * dominant < a.shape.rows || most > 1e8 * least;
}

double safe_pivot(double pivot, double size, index_t row, lu_factors& f) {
  constexpr double least = 1e-4, instead = 1e-2;
  if (std::abs(pivot) >= least * size && pivot != 0) return pivot;
  if (f.replaced++ == 0) f.first_replaced = row;
  return std::copysign(size > 0 ? instead * size : 1.0, pivot);
}

void check_fill(double bytes, std::string_view who) {
  if (host_room free; !free.takes(bytes))
    throw_sentence(fault::memory,
                   "the factors of {} take {:.3g} GB, of {:.3g} GB that can be had: take a lower level or less fill",
                   who, bytes * 1e-9, free.bytes() * 1e-9);
}

double growth(row_view<double> b, const lu_factors& f) {
  const index_t n = b.shape.rows;
  std::vector<double> x(static_cast<std::size_t>(n), 0.0), column(static_cast<std::size_t>(n), 0.0);
  for (index_t i = 0; i < n; ++i) {
    for (index_t k = b.begin(i); k < b.end(i); ++k) x[i] = std::max(x[i], std::abs(b.val[k]));
    for (index_t k = b.begin(i); k < b.end(i) && x[i] > 0; ++k)
      column[b.col[k]] = std::max(column[b.col[k]], std::abs(b.val[k]) / x[i]);
  }
  const row_matrix<double>& lu = f.rows;
  for (index_t i = 0; i < n; ++i)
    for (index_t e = lu.row_ptr[i]; e < f.pivot[i]; ++e) x[i] -= lu.val[e] * x[lu.col[e]];
  double most = 0;
  for (index_t i = n - 1; i >= 0; --i) {
    for (index_t e = f.pivot[i] + 1; e < lu.row_ptr[i + 1]; ++e) x[i] -= lu.val[e] * x[lu.col[e]];
    x[i] /= lu.val[f.pivot[i]];
    if (!std::isfinite(x[i])) return std::numeric_limits<double>::infinity();
    most = std::max(most, std::abs(x[i]) * (column[i] > 0 ? column[i] : 1));
  }
  return most;
}

lu_factors stable_factors(row_view<double> b, const factoriser& factorise) {
  constexpr double most = 1e8, most_near_an_explosion = 1e6, explosion = 1e16, last = 1e12;
  double worst = 0;
  for (double shift = 0;; shift = std::max(1e-3, 10 * shift)) {
    lu_factors f = factorise(b, shift);
    f.shift = shift;
    const double now = growth(b, f);
    worst = std::max(worst, now);
    if (now <= (worst > explosion ? most_near_an_explosion : most) || shift > last) return f;
  }
}

template bool has_weak_diagonal(row_view<double>);
template bool has_weak_diagonal(row_view<float>);

} // namespace furrow
