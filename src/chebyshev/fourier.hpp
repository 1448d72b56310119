// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "complex_number.hpp"
#include "ducc0_plan.hpp"

#include <vector>

namespace furrow::chebyshev {

/// The Fourier transform of n complex numbers, for every n, O(n log n), by ducc0. Numbers are pairs of doubles, real
/// and imaginary part.
///
/// A transform of up to `alone` points is one thread's, a longer one is shared by all of them; its bits do not depend
/// on their number. Transforms of one object may run at the same time.
class fourier_transform {
public:
  static constexpr index_t alone = ducc0_plan::one_thread;
  explicit fourier_transform(index_t n);
  index_t room() const { return plan_->room(); } ///< doubles that a transform works in, besides its numbers
  double bytes() const { return plan_->bytes(); }

  /// x_k <- sum_j x_j e^(2 pi i j k / n), unscaled. Returns where the result is: x, or a part of room.
  double* plus(double* x, double* room) const { return run(x, room, false); }
  /// The same with e^(-2 pi i j k / n).
  double* minus(double* x, double* room) const { return run(x, room, true); }

private:
  double* run(double* x, double* room, bool minus) const;

  index_t n_;
  ducc0_pointer plan_;
};

/// X_k = sum_j x_j exp(-2 pi i j k / n) in place.
void fourier(std::vector<complex_number>& x);

} // namespace furrow::chebyshev
