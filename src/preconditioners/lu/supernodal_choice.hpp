// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "factors.hpp"
#include "fill.hpp"
#include "matched.hpp"

#include <string>

namespace furrow::lu {

/// Operations in a second of factors by supernodes, on two cores of an Intel Xeon: 10 to 25e9.
inline constexpr double operations_of_supernodes = 1.5e10;
/// SuperLU's, with Debian's plain BLAS: 1 to 3.4e9.
inline constexpr double operations_a_second = 3e9;
inline constexpr double faster_by_panels = operations_of_supernodes / operations_a_second;

/// Whether a matrix is factored by supernodes, and in which shape, by what the patterns count. Each way answers null
/// where it does not pay, or where the factors are not good enough, which `why` says.
class supernodal_choice {
public:
  /// `by`: only: each way is taken that is asked for, and pivots that are too small are made larger.
  supernodal_choice(const columns& a, host_room budget, double operations, order_wish wish, supernodes by)
      : a_(a), budget_(budget), operations_(operations), wish_(wish), asked_(by == supernodes::only),
        never_(by == supernodes::none) {}

  bool may() const { return !never_; }
  /// In the order of the forecast.
  std::unique_ptr<factors> as_it_stands(const fill_forecast& f);
  /// Those of a mirrored pattern with a weak diagonal, where the pairs of `match_pairs` leave so many operations at
  /// most.
  std::unique_ptr<factors> with_pairs(double most);
  /// Those of any other matrix likewise, with its rows as `match_rows` moves them.
  std::unique_ptr<factors> with_moved_rows(double most);
  /// The one of these that its diagonal asks for.
  std::unique_ptr<factors> by_name(column_order order);
  /// Why factors that were begun are not taken, for people; empty: none were.
  const std::string& why() const { return why_; }

private:
  bool pays(const fill_forecast& f) const;
  std::unique_ptr<factors> arranged(const arranged_columns& to, const columns& pattern, double most);

  const columns& a_;
  host_room budget_;
  double operations_;
  order_wish wish_;
  bool asked_, never_;
  std::string why_;
};

} // namespace furrow::lu
