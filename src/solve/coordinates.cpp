// SPDX-License-Identifier: BSD-3-Clause
#include "coordinates.hpp"

#include "core/check.hpp"
#include "core/parameters.hpp"

#include <cmath>

namespace furrow {
namespace {

constexpr double largest_coordinate = 1e300;

} // namespace

void check_coordinates(const solve_options& o) {
  if (!o.coordinates) return;
  const auto& [dims, values] = *o.coordinates;
  check(o.precond != "auto", fault::usage, "coordinates are for the preconditioner amg:sa: name it");
  const preconditioner_entry& entry = find_preconditioner(o.precond);
  check(entry.takes_coordinates && entry.takes_coordinates(take_apart(o.precond).parameters), fault::usage,
        "the preconditioner {} makes no use of coordinates: take amg:sa, or leave them out", o.precond);
  check(dims == 2 || dims == 3, fault::input, "the coordinates have {} dimension{}: nodes have 2 or 3", dims,
        dims == 1 ? "" : "s");
  check(!values.empty() && values.size() % dims == 0, fault::input,
        "{} numbers are no coordinates in {} dimensions: give {} for each node", values.size(), dims, dims);
  for (index_t k = 0; k < values.size(); ++k)
    check(std::abs(values[k]) <= largest_coordinate, fault::input,
          "coordinate {} of node {} is {}: all must be finite, and at most 1e300", k % dims + 1, k / dims + 1,
          values[k]);
}

void check_coordinates(const solve_options& o, shape2 a) {
  if (!o.coordinates) return;
  const auto& [dims, values] = *o.coordinates;
  check(values.size() == a.rows, fault::input,
        "the coordinates are those of {0} nodes in {1} dimensions, which have {2} unknowns, but A has {3} rows: give "
        "{1} numbers for each node of {1} unknowns",
        values.size() / dims, dims, values.size(), a.rows);
  bool apart = false;
  for (index_t k = dims; k < values.size() && !apart; ++k) apart = values[k] != values[k % dims];
  check(apart || values.size() == dims, fault::input, "the coordinates say that all nodes are at one place");
}

preconditioner_layout lay_out_preconditioner(std::string_view name, const stats& s, precision p,
                                             const solve_options& o) {
  preconditioner_layout l = find_preconditioner(name).lay_out(s, p, take_apart(name).parameters);
  const double motions = o.coordinates ? (o.coordinates->dims == 2 ? 3 : 6) : 0;
  l.making += 3 * motions * 8 * double(s.shape.rows);
  return l;
}

} // namespace furrow
