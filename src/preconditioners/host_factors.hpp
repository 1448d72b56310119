// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "matrix/triangular.hpp"

#include <utility>

namespace furrow {

/// While it lives, exact triangular factors that this thread makes for a GPU stay on the host where a step with them
/// takes less time there: a solve on a GPU goes from one level of rows to the next, and many levels of few rows leave
/// nearly all of it idle. Whoever asks runs the method on the host then.
class lets_factors_stay {
public:
  lets_factors_stay() : before_(std::exchange(current(), this)) {}
  ~lets_factors_stay() { current() = before_; }
  lets_factors_stay(const lets_factors_stay&) = delete;
  lets_factors_stay& operator=(const lets_factors_stay&) = delete;

  bool stayed() const { return stayed_; }

  /// Whether these stay, which is asked once they are made.
  template <class V> static bool decide(const row_matrix<V>& lower, const row_matrix<V>& upper);

private:
  static lets_factors_stay*& current();

  lets_factors_stay* before_;
  bool stayed_ = false;
};

/// Seconds of a step, by the model of the decision: on a GPU those of its two chains of rows alone.
struct step_seconds {
  double gpu = 0, host = 0;
};
template <class V> step_seconds expected_step(const row_matrix<V>& lower, const row_matrix<V>& upper);

} // namespace furrow
