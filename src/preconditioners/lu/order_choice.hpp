// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "factors.hpp"
#include "ordering.hpp"

#include <furrow/error.hpp>

#include <optional>
#include <utility>

namespace furrow::lu {

struct order_rules {
  order_wish wish = order_wish::cheapest;
  double operations = 0;   ///< that the factors may take
  double a_second = 0;     ///< operations of such factors in a second, on two cores of an Intel Xeon
  double for_a_square = 1; ///< operations for the square of the count of a column
  bool to_the_end = false; ///< whether an order may take longer than factors of so many operations
};

/// Whether an order by dissection promises to pay beside one by minimum degree.
class dissection_outlook {
public:
  dissection_outlook(const column_graph& g, const order_rules& rules);

  /// Where minimum degree leaves so many operations.
  bool pays(double operations) const;
  /// Beyond which minimum degree is not followed to its end: for factors take more than they may, by any order, or the
  /// order itself takes longer than factors that may be made, or since dissection surely takes fewer operations.
  order_bounds bounds() const;
  bool is_in_vain() const { return in_vain_ <= surely_; }
  [[noreturn]] void refuse(const order_fills_in& shown) const;

private:
  bool can_;
  double limit_, for_a_square_, takes_, in_vain_, surely_, steps_;
};

/// By minimum degree of blocks, where these are fewer than columns.
host_array<std::int32_t> order_by_degree(const columns& a, const column_graph& g, host_room budget,
                                         const order_bounds& most = {});

/// Of so few columns an order by minimum degree takes half a millisecond, and no other one saves that.
constexpr index_t few_columns_to_order = 1000;

/// count(place) of the order that is wished for: what has `operations`, as a forecast of factors. By minimum degree
/// first, which takes a tenth to a half of a dissection's time on grids and bodies; then by dissection where that
/// promises to pay, and the one with fewer operations is taken. `order`: what is known already; on return what was
/// taken. Throws `refusal` with status::max_iterations where an order that is not at its end shows that the factors
/// take more operations than they may, or takes too long itself.
template <class Count>
auto count_best_order(const columns& a, column_order& order, const order_rules& rules, host_room budget, Count count) {
  using counted = decltype(count(order.place));
  const bool asked = rules.wish == order_wish::dissection;
  if (asked && !order.dissected) order = {};
  if (!asked && order.place.size() == 0 && a.n < few_columns_to_order) order = {minimum_degree(a, budget), false, true};
  if (order.best) return count(order.place);
  const column_graph g = graph_of(a);
  if (asked) {
    order = {nested_dissection(g, budget), true, true};
    return count(order.place);
  }
  const dissection_outlook outlook(g, rules);
  std::optional<counted> first;
  try {
    if (order.place.size() == 0) order.place = order_by_degree(a, g, budget, outlook.bounds());
    first = count(order.place);
    if (!outlook.pays(first->operations)) return std::move(*first);
  } catch (const order_fills_in& shown) {
    if (outlook.is_in_vain()) outlook.refuse(shown);
  }
  order.best = true;
  try {
    column_order other{nested_dissection(g, budget), true, true};
    counted second = count(other.place);
    if (!first || second.operations < first->operations) {
      order = std::move(other);
      return second;
    }
  } catch (const error& e) {
    if (e.kind != fault::memory) throw;
  }
  if (first) return std::move(*first);
  order.place = order_by_degree(a, g, budget);
  return count(order.place);
}

} // namespace furrow::lu
