// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "operator_steps.hpp"

#include <furrow/chebyshev/density.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace furrow::chebyshev {

/// T_0(B) x, T_1(B) x, ... with B = (A - m I) / h, written once for every space: the recurrence
/// T_(k+1) = 2 B T_k - T_(k-1) is the update of y in y <- alpha A x + beta y; what is left of the shift m, if anything,
/// is made good by the pass that comes next.
template <vector_space S> class chebyshev_vectors {
  using V = value_of<S>;
  using array = decltype(std::declval<S&>().make(0));

public:
  chebyshev_vectors(S& space, const symmetric_operator<V>& a, interval on)
      : s_(space), a_(a.a), n_(a.a.shape().rows), centred_(a.centred || on.middle() == 0),
        slope_(static_cast<V>(1 / on.half_width())), shift_(static_cast<V>(on.middle() / on.half_width())),
        now_(space.make(n_)), before_(space.make(n_)) {}

  /// y = sum a_k T_k x: upwards where a product makes a degree, else downwards, where one pass for two degrees makes up
  /// for the shift.
  void sum(cview<double> a, cview<V> x, view<V> y) {
    const auto c = [&](index_t k) { return k < a.size ? static_cast<V>(a[k]) : V(0); };
    if (a.size < 2) s_.sweep(n_, operator_steps::begin_sum<V>{x, y, c(0)});
    else if (centred_) upwards(a.size - 1, c, x, y);
    else downwards(a.size - 1, c, x, y);
  }

  /// x . T_k x for 0 <= k < count. Waits once.
  std::vector<double> moments(index_t count, cview<V> x) {
    using namespace operator_steps;
    const index_t steps = std::max<index_t>(count / 2, 1); // T_0 to T_steps
    auto slots = s_.make_slots(2 * steps + 2);
    const auto slot_of = [&](index_t k) { return slot{slots.data() + k}; };
    s_.dot(x, x, slot_of(0));
    start(x);
    for (index_t k = 1; k <= steps; ++k) {
      if (k > 1) advance();
      const slot square = slot_of(2 * k), mixed = slot_of(2 * k + 1);
      const V shift = k > 1 ? 2 * shift_ : V(0); // T_1 is corrected already
      if (centred_ || k == 1) s_.sweep(n_, two_dots<V>{as_cview(now_), as_cview(before_)}, square, mixed);
      else s_.sweep(n_, correct_and_two_dots<V>{as_view(now_), as_cview(before_), shift}, square, mixed);
    }
    host_array<double> home(2 * steps + 2);
    s_.fetch(as_cview(slots), as_view(home));
    std::vector<double> m(static_cast<std::size_t>(2 * steps + 1));
    m[0] = home[0];
    m[1] = home[3];
    for (index_t k = 1; k <= steps; ++k) { // T_2k = 2 T_k T_k - T_0, T_(2k-1) = 2 T_k T_(k-1) - T_1
      m[static_cast<std::size_t>(2 * k)] = 2 * home[2 * k] - m[0];
      if (k > 1) m[static_cast<std::size_t>(2 * k - 1)] = 2 * home[2 * k + 1] - m[1];
    }
    m.resize(static_cast<std::size_t>(count));
    return m;
  }

private:
  template <class F> void upwards(index_t degree, F c, cview<V> x, view<V> y) {
    using namespace operator_steps;
    start(x);
    s_.sweep(n_, begin_sum<V>{x, y, c(0)});
    for (index_t k = 1; k <= degree; k += 2) { // now_ is T_k
      if (k < degree) advance();
      else std::swap(now_, before_);
      s_.sweep(n_, add_two<V>{as_cview(now_), as_cview(before_), y, c(k), k < degree ? c(k + 1) : V(0)});
      if (k + 1 < degree) advance();
    }
  }

  /// Clenshaw's recurrence b_k = c_k x + 2 B b_(k+1) - b_(k+2), y = c_0 x + B b_1 - b_2.
  template <class F> void downwards(index_t degree, F c, cview<V> x, view<V> y) {
    using namespace operator_steps;
    const auto target = [&](index_t k) { return k > 0 ? as_view(before_) : y; };
    const auto share = [&](index_t k) { return k > 0 ? 2 * shift_ : shift_; };
    index_t k = degree - 1; // now_ is b_(k+1), and b_k waits for its product
    s_.sweep(n_, begin_sum<V>{x, as_view(now_), c(degree)});
    s_.sweep(n_, begin_sum<V>{x, target(k), c(k) - share(k) * c(degree)});
    for (; k > 0; k -= 2) {
      a_.apply(2 * slope_, as_cview(now_), V(1), as_view(before_));
      std::swap(now_, before_); // b_k, b_(k+1)
      if (k == 1) {
        s_.sweep(n_, prepare<V>{x, as_cview(now_), as_cview(before_), y, c(0), shift_});
        break;
      }
      advance();
      s_.sweep(n_, correct_and_prepare<V>{x, as_view(now_), as_cview(before_), target(k - 2), c(k - 1), 2 * shift_,
                                          c(k - 2), share(k - 2)});
    }
    a_.apply(slope_, as_cview(now_), V(1), y);
  }

  /// before = T_0 x, now = T_1 x.
  void start(cview<V> x) {
    s_.copy(x, as_view(before_));
    a_.apply(slope_, as_cview(before_), V(0), as_view(now_));
    if (!centred_) s_.sweep(n_, operator_steps::correct<V>{as_view(now_), as_cview(before_), shift_});
  }
  /// One degree further, but for the correction.
  void advance() {
    a_.apply(2 * slope_, as_cview(now_), V(-1), as_view(before_));
    std::swap(now_, before_);
  }

  S& s_;
  const any_operator<V>& a_;
  index_t n_;
  bool centred_;
  V slope_, shift_;
  array now_, before_;
};

/// Diagonal and squares of the entries beside it, of the tridiagonal matrix that Lanczos' process makes of A / scale.
/// Waits once.
struct tridiagonal {
  std::vector<double> diagonal, beside_squared; ///< of one size: the last square belongs to the residual
};

template <vector_space S>
tridiagonal lanczos(S& s, const any_operator<value_of<S>>& a, index_t steps, double scale, std::uint64_t seed) {
  using V = value_of<S>;
  const index_t n = a.shape().rows;
  auto p = s.make(n), before = s.make(n), q = s.make(n);
  // pp of the direction before the first one, which is 0 and stands in slot 0; pp and pq of each; pp of the last one.
  auto slots = s.make_slots(2 * steps + 2);
  const auto pp = [&](index_t k) { return slot{slots.data() + k}; };             // k = 0 to steps + 1
  const auto pq = [&](index_t k) { return slot{slots.data() + steps + 1 + k}; }; // k = 1 to steps
  s.sweep(n, operator_steps::random_signs<V>{as_view(p), seed});
  s.sweep(n, operator_steps::begin_sum<V>{as_cview(p), as_view(before), V(0)});
  s.dot(as_cview(p), as_cview(p), pp(1));
  for (index_t k = 1; k <= steps; ++k) {
    a.apply_dot(as_cview(p), as_view(q), pq(k));
    s.sweep(n,
            operator_steps::orthogonalise<V>{
                as_cview(q), as_cview(p), as_view(before), {pq(k), pp(k)}, {pp(k), pp(k - 1)}, scale},
            pp(k + 1));
    std::swap(p, before);
  }
  host_array<double> home(2 * steps + 2);
  s.fetch(as_cview(slots), as_view(home));
  tridiagonal t;
  for (index_t k = 1; k <= steps && home[k] != 0; ++k) {
    t.diagonal.push_back(home[steps + 1 + k] / home[k] / scale);
    t.beside_squared.push_back(home[k + 1] / home[k]);
  }
  return t;
}

} // namespace furrow::chebyshev
