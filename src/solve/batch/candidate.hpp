// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "engine.hpp"

#include "solve/rungs.hpp"

#include <furrow/solve.hpp>

#include <optional>
#include <string>
#include <variant>

namespace furrow::small_systems {

/// A system that a launch with others can solve as a solve by itself would: what that would do first.
template <class V> struct candidate {
  given_system<V> given;
  method by = method::cg;
  launch_shape shape;
  std::optional<features> found; ///< by "auto"
  std::vector<rung_plan> plans;  ///< the first of them is `by`
  bool opposite = false;         ///< -A may be positive definite
  bool zero = false;             ///< b is: so is x, without a solve
};

/// Why the systems of a batch go one by one whatever they are; empty: they need not.
std::string why_alone(const solve_options& o, bool doubles);

/// Whether each A[i,i] is to have an inverse.
bool scales_rows(const solve_options& o);

/// Looks at a system, in one thread; or says why it goes by itself. What a solve would refuse goes there, and so does
/// what is special: numbers that are not finite, or out of the range of their squares.
template <class V>
std::variant<candidate<V>, std::string> look(coo<V> a, cview<V> b, view<V> x, const solve_options& o,
                                             const chip& there);

} // namespace furrow::small_systems
