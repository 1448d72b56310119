// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "ducc0_plan.hpp"

#include <vector>

namespace furrow::chebyshev {

/// The Fourier transform of complex numbers of one length, every length, O(n log n), by ducc0.
///
/// A transform of up to `alone` points is one thread's, a longer one is shared by all of them; its bits do not depend
/// on their number. Transforms of one object may run at the same time.
class fourier_transform {
public:
  static constexpr index_t alone = ducc0_plan::one_thread;
  explicit fourier_transform(index_t n);
  index_t room() const { return plan_->room(); } ///< numbers that a transform works in, besides its own
  double bytes() const { return plan_->bytes(); }

  /// x_k <- sum_j x_j e^(2 pi i j k / n), unscaled. Returns where the result is: x, or a part of room.
  complex_number* plus(complex_number* x, complex_number* room) const { return run(x, room, false); }
  /// The same with e^(-2 pi i j k / n).
  complex_number* minus(complex_number* x, complex_number* room) const { return run(x, room, true); }

private:
  complex_number* run(complex_number* x, complex_number* room, bool minus) const;

  index_t n_;
  ducc0_pointer plan_;
};

/// X_k = sum_j x_j exp(-2 pi i j k / n) in place.
void fourier(std::vector<complex_number>& x);

} // namespace furrow::chebyshev
