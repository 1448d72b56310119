// SPDX-License-Identifier: BSD-3-Clause
#include "host_kit.hpp"

#include "extremes.hpp"
#include "pairs.hpp"
#include "prolongation.hpp"

#include "preconditioners/stop.hpp"

#include <cmath>

namespace furrow::amg {
namespace {

/// 1 at (i, of[i]).
row_matrix<double> indicator(const aggregates& g) {
  const index_t n = g.of.size();
  row_matrix<double> p{{n, g.count}, host_array<index_t>(n + 1), {}, {}};
  p.row_ptr[0] = 0;
  for (index_t i = 0; i < n; ++i) p.row_ptr[i + 1] = p.row_ptr[i] + (g.of[i] >= 0);
  p.col.resize(p.row_ptr[n]), p.val.resize(p.row_ptr[n]);
  cpu::for_each_range(n, 1 << 14, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i)
      if (g.of[i] >= 0) p.col[p.row_ptr[i]] = g.of[i], p.val[p.row_ptr[i]] = 1;
  });
  return p;
}

} // namespace

diagonal_extremes extremes_of_diagonal(row_view<double> a) {
  return extremes_over_rows(a.shape.rows, [&](index_t i) {
    double own = 0;
    for (index_t k = a.begin(i); k < a.end(i); ++k)
      if (a.col[k] == i && !std::isnan(a.val[k])) own = a.val[k];
    return own;
  });
}

bool aggregation_kit::coarsen(double theta, bool smoothed, level_plan* plan) {
  aggregates found;
  {
    const strong_graph strong = strong_couplings(m_, theta);
    stops_set_up::at_row(0);
    found = aggregates_of(strong, independent_at_distance_two(strong));
    if (!would_shrink(found.count)) return false;
    stops_set_up::at_row(0);
    p_ = smoothed_prolongation(m_, strong, found, inverse_, smoothed ? 4 / (3 * lambda_) : 0,
                               plan ? zeros::kept : zeros::left_out);
    if (plan && smoothed) plan->keep_smoothing(m_, strong, found, p_.view(), theta);
  }
  stops_set_up::at_row(0);
  r_ = transposed(p_.view());
  coarse_ = triple_product(r_.view(), m_.a, p_.view(), [] { stops_set_up::at_row(0); });
  stops_set_up::at_row(0);
  if (plan) plan->keep_product(m_, p_.view(), r_.view(), coarse_.view());
  return true;
}

bool near_null_kit::coarsen(double theta, bool smoothed) {
  tentative p0;
  {
    const strong_graph strong = strong_couplings(m_, theta);
    stops_set_up::at_row(0);
    const aggregates found = aggregates_of(strong, independent_at_distance_two(strong));
    if (found.count == 0 || double(found.count * vectors_.count) * least_shrinking > double(m_.a.shape.rows))
      return false;
    p0 = orthonormal_over(found, m_.block, vectors_);
    p_ = smoothed_prolongation(m_, strong, found, inverse_, smoothed ? 4 / (3 * lambda_) : 0, vectors_, p0);
  }
  stops_set_up::at_row(0);
  multiply();
  stops_set_up::at_row(0);
  secure_lost_rows(coarse_, p0);
  coarse_vectors_ = std::move(p0.coarse);
  return true;
}

/// D^-1 with which 4/3 D^-1 keeps the eigenvalues of an error within the unit circle where rows are dominant: 1 / sum
/// |a_ij|, 2/3 of Jacobi's step where they just are, and never more than all of it.
double nonsymmetric_kit::look() {
  const auto& a = m_.a;
  inverse_.resize(a.shape.rows);
  cpu::for_each_range(a.shape.rows, 1 << 12, [&](index_t first, index_t last) {
    for (index_t i = first; i < last; ++i) {
      double sum = 0, own = 0;
      for (index_t k = a.begin(i); k < a.end(i); ++k) {
        sum += std::abs(a.val[k]);
        if (a.col[k] == i) own = a.val[k];
      }
      inverse_[i] = 1 / std::max(sum, chebyshev::first * own);
    }
  });
  return lambda_ = 1;
}

bool nonsymmetric_kit::coarsen(double theta, bool smoothed) {
  const row_matrix<double> back = transposed(m_.a);
  const strong_graph strong = couplings_either_way(m_.a, back.view(), theta);
  stops_set_up::at_row(0);
  const aggregates found = aggregates_of(strong, independent_at_distance_two(strong));
  if (!would_shrink(found.count)) return false;
  stops_set_up::at_row(0);
  const auto make = [&](double omega) {
    p_ = smoothed_prolongation(m_, strong, found, inverse_, omega);
    r_ = transposed(smoothed_prolongation({back.view(), 1}, strong, found, inverse_, omega).view());
    stops_set_up::at_row(0);
    coarse_ = triple_product(r_.view(), m_.a, p_.view(), [] { stops_set_up::at_row(0); });
  };
  make(smoothed ? chebyshev::first : 0);
  if (smoothed && !extremes_of_diagonal(coarse_.view()).are_positive()) make(0); // sums of dominant rows stay dominant
  return true;
}

bool pairwise_kit::coarsen(double, bool first_time, level_plan* plan) {
  if (!first_time) return true; // rows are as short as they get
  stops_set_up::at_row(0);
  paired found = three_times_pairs(m_.a);
  if (!would_shrink(found.of_rows.count)) return false;
  stops_set_up::at_row(0);
  p_ = indicator(found.of_rows);
  r_ = transposed(p_.view());
  coarse_ = std::move(found.coarse);
  if (plan) plan->keep_product(m_, p_.view(), r_.view(), coarse_.view());
  return true;
}

} // namespace furrow::amg
