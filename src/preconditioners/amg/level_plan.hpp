// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "aggregates.hpp"
#include "diagonal.hpp"
#include "levels.hpp"
#include "matrix/product_plan.hpp"

#include <cstdint>

namespace furrow::amg {

/// What stays of a level when A gets other values in the same places: which couplings count as strong, the aggregates,
/// and the places of P, R, A P and R A P. 2 bytes an entry of A, 4 an entry of R, and what the product takes.
class level_plan {
public:
  top_of_spectrum top;

  /// Where the diagonal of A is.
  void keep_diagonal(row_view<double> a);
  /// The diagonal of other values.
  diagonal_extremes extremes(row_view<double> a) const;
  host_array<double> inverse(const node_matrix& m) const;
  /// P is P0 - omega D^-1 A_F P0 over these aggregates; p: with the entries that are 0. Without this it is P0.
  void keep_smoothing(const node_matrix& m, const strong_graph& strong, const aggregates& g, row_view<double> p,
                      double theta);
  void forget_smoothing() { smoothed_ = has_weak_ = false, place_ = {}; }
  /// r: the transpose of p, product: R A P.
  void keep_product(const node_matrix& m, row_view<double> p, row_view<double> r, row_view<double> product);
  /// Whether rows of P have few enough entries, and P as a whole, for their numbers to be kept.
  bool fits() const { return fits_; }

  /// The numbers of P for other values, by the sums of `smoothed_prolongation` in their order. Where the lumped entries
  /// would leave less than a fifth of a diagonal entry they are left out instead. The nodes whose weak couplings are by
  /// now about as strong as their strong ones: for these the aggregates are in doubt. Parallel, one pass over A.
  index_t prolong(const node_matrix& m, const host_array<double>& inverse, row_view<double> pattern,
                  view<double> p) const;
  /// The numbers of R from those of P.
  void transpose(cview<double> p, view<double> r) const;

  const triple_product_plan& product() const { return product_; }
  double stored_bytes() const {
    return double(diagonal_.byte_count() + place_.byte_count() + from_.byte_count() + top.direction.byte_count()) +
           product_.stored_bytes();
  }

private:
  using place = std::uint16_t;
  static constexpr place lumped = 0xffff, ignored = 0xfffe; ///< an entry that is weak; one that leads to no aggregate
  struct node_numbers;

  bool is_doubtful(const node_matrix& m, const host_array<double>& scale, index_t node) const;
  index_t prolong_rows(const node_matrix& m, const host_array<double>& inverse, const host_array<double>& scale,
                       row_view<double> pattern, view<double> p) const;

  host_array<std::int32_t> diagonal_; ///< of each row: the number of its diagonal entry, -1 where there is none
  host_array<place> place_;           ///< of each entry of A: which of the aggregates of its row of P it counts for
  host_array<std::uint32_t> from_;    ///< of each entry of R: its number in P
  triple_product_plan product_;
  double theta_ = 0;
  bool smoothed_ = false, has_weak_ = false, fits_ = true;
};

} // namespace furrow::amg
