// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <math.h> // isfinite, for host and device code alike

/// The numbers of a level that a K-cycle solves by two steps of flexible conjugate gradients: on the host and beside
/// the vectors of a GPU alike.
namespace furrow::amg::inner_steps {

/// Sums, with x of either step and image = A times that of the first.
enum slot_name : int {
  energy,      ///< of the first step: x'image
  aimed,       ///< x'b
  size,        ///< b'b
  left,        ///< b'b behind the first step
  mixed,       ///< of the second step: x'image
  own,         ///< x'(A x)
  aimed_again, ///< x'b
  slot_count
};

/// Of the residual, that the first step may leave for the second to be left out.
constexpr double enough = 0.25;

/// The length of the first step; 0 where x is 0, or A is not definite.
FURROW_HD inline double first_step(const double* s) {
  return s[energy] > 0 && isfinite(s[energy]) ? s[aimed] / s[energy] : 0;
}
/// Whether the second step is worth its cost.
FURROW_HD inline bool goes_on(const double* s) { return s[left] > enough * enough * s[size]; }

/// What the two directions count for in the answer; the first alone, as it is, where it is no direction.
struct weights {
  double first = 1, second = 0;
};
FURROW_HD inline weights weights_of(const double* s) {
  if (!(s[energy] > 0) || !isfinite(s[energy])) return {};
  const double step = first_step(s);
  if (!goes_on(s)) return {step, 0};
  const double rest = s[own] - s[mixed] * s[mixed] / s[energy];
  const double again = rest > 1e-6 * s[own] ? s[aimed_again] / rest : 0; // otherwise it is the first direction again
  return {step - again * s[mixed] / s[energy], again};
}

} // namespace furrow::amg::inner_steps
