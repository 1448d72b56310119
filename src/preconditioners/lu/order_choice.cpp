// SPDX-License-Identifier: BSD-3-Clause
#include "order_choice.hpp"

#include "preconditioners/stop.hpp"

#include <algorithm>
#include <cmath>

namespace furrow::lu {
namespace {

/// Dissection leaves a third to a half of the operations of minimum degree on grids of three dimensions, down to a
/// thirtieth of solids, and about as many on grids of two. It pays where minimum degree leaves so many times the
/// operations of its time.
constexpr double pays_from = 3;
/// What minimum degree leaves too many operations of is ordered anew up to so many times those that are allowed, where
/// that takes the time of a fifth of them at most.
constexpr double may_save = 8, of_limit = 0.2;
/// Minimum degree is left at so many times the operations of a dissection's time, in a graph whose vertices have like
/// numbers of neighbours, as grids and bodies have; where some have many it leaves down to three quarters of the
/// operations of dissection.
constexpr double surely_from = 10, like = 16;
/// Minimum degree is left at so many steps for each neighbour, 2 to 4 us on two cores of an Intel Xeon, where factors
/// take no more than that. Real matrices take up to 111 (cage10), and up to 65 whose factors are made then (bcsstk23);
/// solids 122 to 313 (9,450 to 86,490 rows); 30,000 rows of eight entries at random 9,000, which are 13 s.
constexpr double steps_a_neighbour = 500;

bool has_like_numbers(const column_graph& g) {
  std::int32_t most = 0;
  for (index_t b = 0; b < g.blocks(); ++b) most = std::max(most, g.begins[at(b + 1)] - g.begins[at(b)]);
  return double(most) * double(g.blocks()) <= like * double(g.neighbours.size());
}

} // namespace

dissection_outlook::dissection_outlook(const column_graph& g, const order_rules& rules)
    : can_(rules.wish == order_wish::cheapest && has_dissection()), limit_(rules.operations),
      for_a_square_(rules.for_a_square), takes_(seconds_of_dissection(g) * rules.a_second), steps_(order_bounds::none) {
  in_vain_ = limit_ * (can_ && takes_ <= of_limit * limit_ ? may_save : 1);
  if (std::isfinite(limit_) && !rules.to_the_end)
    steps_ = std::min(steps_a_neighbour, bounds_operations::at_most().order_steps) * double(g.neighbours.size());
  surely_ = can_ && has_like_numbers(g) ? surely_from * takes_ : std::numeric_limits<double>::infinity();
}

void dissection_outlook::refuse(const order_fills_in& shown) const {
  if (!shown.by_steps) refuse_operations(limit_);
  throw refusal{status::max_iterations, "the matrix fills in so far that to order complete factors takes too long"};
}

bool dissection_outlook::pays(double operations) const {
  if (!can_) return false;
  if (operations <= limit_) return operations > pays_from * takes_;
  return operations <= in_vain_ && takes_ <= of_limit * limit_;
}

order_bounds dissection_outlook::bounds() const { return {std::min(in_vain_, surely_) / for_a_square_, steps_}; }

host_array<std::int32_t> order_by_degree(const columns& a, const column_graph& g, host_room budget,
                                         const order_bounds& most) {
  if (!g.is_smaller()) return minimum_degree(a, budget, most);
  return g.places(minimum_degree(g.as_columns(), budget, most));
}

} // namespace furrow::lu
