// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "columns.hpp"
#include "growing.hpp"
#include "supernodal_sweeps.hpp"

#include "core/host_room.hpp"

#include <vector>

namespace furrow::lu {

/// Of so many columns factors are made by `column_lu`, which takes half to nine tenths of SuperLU's time: calls of BLAS
/// for panels of a few columns are most of it. More columns are the library's, which others keep well: its panels and
/// relaxed supernodes cost up to twice the time there, of the few systems that come to complete factors.
inline constexpr index_t columns_one_by_one = 5000;

/// How pivots are chosen and when to give up.
struct elimination_rules {
  double threshold = 1; ///< a pivot on the diagonal is kept that is not smaller than so much of its column's largest
  double operations;    ///< more of floating point are refused (`refuse_operations`)
  double expected_entries = 0; ///< of L and U together, about; 0: not known
};

/// P A Q = L U, a column after the other: the columns of L that change it are found by a depth-first search through the
/// pattern so far, pruned where entries of L and U mirror each other, then all of what they change is worked out and
/// the pivot chosen (J. R. Gilbert, T. Peierls, Sparse partial pivoting in time proportional to arithmetic operations,
/// 1988; S. C. Eisenstat, J. W. H. Liu, Exploiting structural symmetry in unsymmetric sparse symbolic factorization,
/// 1992). Neighbouring columns of L with the same rows are kept as a dense panel, by which a later column changes at
/// once (J. W. Demmel, S. C. Eisenstat, J. R. Gilbert, X. S. Li, J. W. H. Liu, 1999). That is SuperLU's way without its
/// panels of columns of A: it suits factors that fit a cache, and small panels, for which BLAS is called in vain.
class column_lu {
public:
  /// Column j of A stands at column_place[j], in an order in which neighbours may share rows (`postorder`). Throws
  /// std::bad_alloc beyond `budget`, and `refusal` with status::singular where a column has no pivot.
  column_lu(const columns& a, const host_array<std::int32_t>& column_place, const elimination_rules& rules,
            growth_budget& budget);

  const host_array<std::int32_t>& row_place() const { return place_; }
  supernodal factors() const;
  double entries() const; ///< of L and U, the diagonal once, with zeros that are stored
  double bytes() const;
  double operations() const { return operations_; }

private:
  friend class column_elimination;

  host_array<std::int32_t> place_; ///< of a row, -1 while it has no pivot
  std::vector<std::int32_t> first_column_, rows_from_, values_from_, u_from_;
  growing<std::int32_t> rows_, u_row_;
  growing<double> values_, u_;
  double operations_ = 0;
};

} // namespace furrow::lu
