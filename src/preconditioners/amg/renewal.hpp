// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "hierarchy.hpp"
#include "level_plan.hpp"
#include "matrix/rows.hpp"

#include <vector>

namespace furrow::amg {

/// Makes the numbers of a hierarchy on the host for other values of the matrix that it was made of.
template <class W> class renewal {
public:
  using outcome = renewal_outcome;

  virtual ~renewal() = default;
  /// a: sorted rows. Throws a `refusal` where A is proved to be indefinite.
  virtual outcome renew(row_view<double> a, hierarchy<W>& h) = 0;
};

/// Of aggregation, smoothed or in pairs. The first time everything is made anew, with what stays the same from then on:
/// plans of about twice the bytes of the levels. Later ones keep aggregates and all places: lambda takes two steps of
/// Lanczos from the vector before, P, P'A P, the smoother and the dense inverse their sums alone. Everything is made
/// anew where A has other places, or where couplings have changed so much that more than a tenth of the nodes of a
/// level would have other aggregates.
template <class W> class aggregation_renewal final : public renewal<W> {
public:
  enum class kind { smoothed, pairwise };
  explicit aggregation_renewal(kind of, int block) : kind_(of), block_(block) {}
  renewal_outcome renew(row_view<double> a, hierarchy<W>& h) override;

private:
  void make(row_view<double> a, hierarchy<W>& h);
  template <class Kit> bool make_by(row_view<double> a, hierarchy<W>& h);
  bool fits(row_view<double> a) const;
  bool renew_level(std::size_t number, node_matrix& m, row_matrix<double>& coarse, hierarchy<W>& h);

  kind kind_;
  int block_;
  host_array<index_t> row_ptr_; ///< of A; empty: nothing is kept yet
  host_array<std::int32_t> col_;
  std::vector<level_plan> plans_;
};

} // namespace furrow::amg
