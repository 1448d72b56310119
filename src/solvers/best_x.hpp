// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "residual_at_hand.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace furrow {

/// The best x so far and the first guess: what is handed back is never worse in |b - A x| than either. Memory: an x
/// when it is first kept, and the first guess where that is not 0.
template <vector_space S> class best_x {
  using V = value_of<S>;
  using array = decltype(std::declval<S&>().make(0));

public:
  best_x(S& space, const linear_system<V>& system, residual_at_hand<S>& residual)
      : s_(space), x_(system.x), residual_(residual) {}

  /// Of the first guess.
  double first() const { return first_; }
  /// Of the x that is kept, by the recurrence where that brought it.
  double kept() const { return best_; }

  /// The x at hand, whose residual is, is the first guess.
  void begin() {
    first_ = best_ = residual_.norm();
    if (residual_.norm_of_x() == 0) return;
    first_x_ = s_.make(x_.size);
    s_.copy(x_, as_view(*first_x_));
  }
  /// Of the first guess, where the residual at hand has been worked out in more digits since.
  void look_again() { first_ = best_ = residual_.norm(); }
  void keep(double residual) {
    if (!best_x_) best_x_ = s_.make(x_.size);
    s_.copy(x_, as_view(*best_x_));
    best_ = residual;
  }
  /// x becomes the best one seen, r its recomputed residual; whether x is another one now.
  bool hand_back() {
    bool other = false;
    forget_norm();
    if (!residual_.x_is_finite()) residual_.take(none);
    if (best_ < first_ && !(residual_.norm() <= best_)) {
      s_.copy(as_cview(*best_x_), x_);
      other = true;
      residual_.recompute();
      if (!residual_.x_is_finite()) residual_.take(none);
      best_ = residual_.norm(); // more than before where the recurrence was wrong about that x
    }
    if (residual_.norm() <= first_ && residual_.norm() + residual_.rounding() > first_)
      residual_.recompute_beyond_rounding();
    if (residual_.norm() <= first_ || !std::isfinite(first_)) return other;
    restore_first_guess();
    return true;
  }
  void restore_first_guess() {
    forget_norm();
    if (!first_x_) s_.sweep(x_.size, pass(set_zero{}, out(x_)));
    else s_.copy(as_cview(*first_x_), x_);
    residual_.recompute();
  }
  /// |x - A^-1 b| / |x| in the 8-norm: what x has moved since the one kept before it, or since the first guess, for an
  /// error that falls as the residual does. 0: not known.
  double error_by_progress() {
    const double now = residual_.norm();
    if (best_x_) return now < best_ ? residual_.moved_since(*best_x_) * now / best_ : 0;
    return first_x_ && now < first_ ? residual_.moved_since(*first_x_) * now / first_ : 0;
  }
  double moved_since_first_guess() { return first_x_ ? residual_.moved_since(*first_x_) : 1; }

private:
  static constexpr double none = std::numeric_limits<double>::infinity();
  void forget_norm() { residual_.x_has_changed(); }

  S& s_;
  view<V> x_;
  residual_at_hand<S>& residual_;
  std::optional<array> best_x_, first_x_; ///< also on a rank without elements of x
  double first_ = 0, best_ = 0;
};

} // namespace furrow
