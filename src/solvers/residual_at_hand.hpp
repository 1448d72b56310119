// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "control.hpp"
#include "exact_residual.hpp"
#include "pass.hpp"

#include "solvers/entry.hpp"

#include <furrow/value.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace furrow {

/// r = b - A x of the x at hand, worked out anew, its norm and those of b and x; and how much of them is rounding. A
/// verdict rests on these numbers alone. On ranks all call it together. Memory: r. Whatever is asked for costs a wait,
/// and what it says beside.
template <vector_space S> class residual_at_hand {
  using V = value_of<S>;
  using array = decltype(std::declval<S&>().make(0));

public:
  residual_at_hand(S& space, const linear_system<V>& system)
      : s_(space), system_(system), r_(space.make(system.b.size)), squares_(space.make_slots(square_count)) {}

  view<V> r() { return as_view(r_); }
  /// |b - A x|.
  double norm() const { return norm_; }
  double norm_of_b() const { return norm_b_; }
  index_t waits() const { return waits_; }

  /// r and all three norms: of a first guess.
  void look_first() {
    s_.dot(system_.b, system_.b, square(of_b));
    look_again();
    norm_b_ = std::sqrt(home_[of_b]);
  }
  /// r, its norm and that of x, in one wait. A pass over A, one over x.
  void look_again() {
    enqueue(square(of_r));
    s_.dot(system_.x, system_.x, square(of_x));
    fetch();
    norm_ = std::sqrt(home_[of_r]);
    norm_x_ = std::sqrt(home_[of_x]);
  }
  /// r and its norm, in one pass over A.
  void recompute() {
    enqueue(square(of_r));
    fetch();
    norm_ = std::sqrt(home_[of_r]);
  }
  /// r in more digits; false, and nothing done, where the operator does not tell its entries.
  bool recompute_beyond_rounding() {
    if (!system_.ranks)
      if (const auto there = system_.a.exact_residual(system_.b, system_.x, r())) {
        norm_ = *there;
        return true;
      }
    const auto exact = on_host();
    if (!exact) return false;
    norm_ = exact->norm;
    s_.copy(as_cview(array(exact->r)), r());
    return true;
  }
  /// A norm that is taken at its word, of an x that changes no more.
  void take(double norm) { norm_ = norm; }
  /// The x at hand is another one: its norm is not known, nor is r.
  void x_has_changed() { norm_x_ = unknown; }

  double norm_of_x() {
    if (!std::isnan(norm_x_)) return norm_x_;
    s_.dot(system_.x, system_.x, square(of_x));
    fetch();
    return std::sqrt(home_[of_x]);
  }
  /// Columns without entries hide an x that is not finite from its residual.
  bool x_is_finite() {
    if (std::isfinite(norm_x_)) return true;
    s_.sweep(system_.x.size, pass(find_not_finite{}, in(system_.x)), square(of_x));
    fetch();
    return home_[of_x] == 0;
  }
  /// A bound for what rounding makes of r.
  double rounding() {
    const double norm_x = control::norm_from_above(norm_of_x());
    return rounding_of_residual<V>(system_.longest_row, system_.norm_2 * norm_x + norm_b_);
  }
  /// Whether |r| is at most the goal however it was rounded; otherwise works it out beyond rounding.
  bool is_surely_below(double goal) {
    if (norm_ == 0 && norm_b_ == 0) return true;
    if (norm_ + rounding() <= goal) return true;
    if (!recompute_beyond_rounding() || !(norm_ <= goal)) return false;
    // Twice the digits hide the square of what one hides of each term (T. Ogita, S. M. Rump, S. Oishi, 2005, 5.5).
    // Norms bound the terms; where rows differ in size by 1e20 that says little, and they are added up.
    const double hidden = (double(system_.longest_row) + 3) * std::numeric_limits<V>::epsilon() / 2;
    if (norm_ + hidden * rounding() <= goal) return true;
    const auto exact = on_host();
    return exact && norm_ + hidden * hidden * exact->terms <= goal;
  }
  /// |x - y| / |x| in the 8-norm, which a few large elements decide.
  double moved_since(const array& y) {
    constexpr double step = 1e30, least_of_many = 1e150; // of 1e9 elements squares overflow from there on
    double size = norm_of_x() / std::sqrt(double(system_.size()));
    if (!(size > 0)) return 0;
    if (!std::isfinite(size)) size = least_of_many;
    for (;; size *= step) {
      s_.sweep(system_.x.size, pass(compare{1 / size}, in(system_.x), in(as_cview(y))), square(of_r), square(of_x));
      fetch();
      if (std::isfinite(home_[of_x]) && std::isfinite(home_[of_r])) break;
      if (!(size < 1e290)) return 1; // as far as x is large
    }
    return std::sqrt(std::sqrt(std::sqrt(home_[of_r] / home_[of_x])));
  }
  host_array<V> at_home(cview<V> v) {
    array copy = s_.make(v.size);
    s_.copy(v, as_view(copy));
    return host_array<V>(copy);
  }

private:
  enum square_name : int { of_r, of_x, of_b, square_count }; ///< that one wait brings
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

  slot square(int name) { return {squares_.data() + name}; }
  void enqueue(slot rr) { system_.a.residual(system_.b, system_.x, r(), rr); }
  void fetch() {
    s_.fetch(as_cview(squares_), {home_, square_count});
    ++waits_;
  }
  std::optional<exact_residual<V>> on_host() {
    return residual_beyond_rounding<V>(system_.a, as_cview(at_home(system_.b)), as_cview(at_home(system_.x)),
                                       system_.ranks);
  }

  S& s_;
  const linear_system<V>& system_;
  array r_;
  decltype(std::declval<S&>().make_slots(0)) squares_;
  double home_[square_count] = {};
  double norm_ = 0, norm_b_ = 0;
  double norm_x_ = unknown; ///< while x stays
  index_t waits_ = 0;
};

} // namespace furrow
