// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace furrow::lu {

/// A search for |B|_1 by products alone that asks for one after the other, so that several searches can have theirs
/// made together: W. W. Hager, Condition estimates, 1984; N. J. Higham, FORTRAN codes for estimating the one-norm of a
/// real or complex matrix, 1988, algorithm 4.1. At most 11 products, mostly 5 or 6; hardly ever below a third.
///
/// Until `wants_nothing()`, whoever runs it makes x <- B x, or B' x where `wants_transposed()`, and calls `take()`. The
/// product of a vector of its own, by which the search is held to account, can be made at any time: `check`,
/// `take_check`.
class norm_search {
public:
  explicit norm_search(index_t n)
      : n_(n), done_(n == 0), checked_(n <= 1), x_(n, n > 0 ? 1.0 / double(n) : 0), signs_(n, 0.0) {}

  bool wants_nothing() const { return done_; }
  bool wants_transposed() const { return transposed_; }
  bool wants_check() const { return !checked_; }
  double* x() { return x_.data(); }
  void take() {
    if (transposed_) turn_to_column();
    else judge();
  }

  /// A vector that finds what the search misses where its first one meets cancellation; B times it is wanted.
  host_array<double> check() const {
    host_array<double> v(n_);
    for (index_t i = 0; i < n_; ++i) v[i] = (i % 2 ? -1 : 1) * (1 + double(i) / double(n_ - 1));
    return v;
  }
  void take_check(const host_array<double>& product) {
    checked_ = true;
    at_least_ = 2 * norm(product) / (3 * double(n_));
  }

  double estimate() const { return std::max(estimate_, at_least_); }

private:
  static double norm(const host_array<double>& v) {
    double sum = 0;
    for (const double e : v) sum += std::abs(e);
    return std::isfinite(sum) ? sum : std::numeric_limits<double>::infinity();
  }
  /// Whether they are others than before.
  bool take_signs() {
    bool other = false;
    for (index_t i = 0; i < n_; ++i) {
      const double s = x_[i] < 0 ? -1 : 1;
      other = other || s != signs_[i];
      signs_[i] = s;
    }
    return other;
  }
  void judge() {
    const double now = norm(x_);
    const bool first = column_ < 0;
    if (!first && !(now > estimate_)) return void(done_ = true);
    estimate_ = now;
    if (first && (n_ == 1 || std::isinf(now))) return void(done_ = checked_ = true);
    if (round_ == 4 || !take_signs()) return void(done_ = true);
    ++round_;
    std::ranges::copy(signs_, x_.begin());
    transposed_ = true;
  }
  void turn_to_column() {
    const index_t next = std::ranges::max_element(x_, {}, [](double v) { return std::abs(v); }) - x_.begin();
    if (next == column_ || !std::isfinite(x_[next])) return void(done_ = true);
    column_ = next;
    std::ranges::fill(x_, 0.0);
    x_[column_] = 1;
    transposed_ = false;
  }

  index_t n_, column_ = -1;
  int round_ = 0;
  bool transposed_ = false, done_, checked_;
  double estimate_ = 0, at_least_ = 0;
  host_array<double> x_, signs_;
};

} // namespace furrow::lu
