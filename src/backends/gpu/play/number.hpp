// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "machine.hpp"

#include <cmath>
#include <concepts>

/// The numbers of a played kernel. They lie in the caller's arrays as the plain numbers do, say what is done to them
/// there, and are rounded as nvcc has them rounded.
namespace furrow::play {

/// a b before it is rounded: nvcc joins a product and the sum that it goes into to one operation (-fmad=true).
template <class T, int Lanes> struct product { T a, b; };

/// A floating-point number of a kernel whose warps have `Lanes` lanes.
template <class T, int Lanes> class real {
  using factor = product<T, Lanes>;

public:
  real() = default;
  template <class N>
  requires std::is_arithmetic_v<N>
  [[gnu::always_inline]] explicit real(N n) : value_(static_cast<T>(n)) {}
  [[gnu::always_inline]] real(factor p) : value_(p.a * p.b) {}
  [[gnu::always_inline]] real(const real& other) : value_(other.get()) {}
  [[gnu::always_inline]] real& operator=(const real& other) { return set(other.get()); }
  ~real() = default;

  [[gnu::always_inline]] T get() const {
    if (!is_own(this)) touch(this, false);
    return value_;
  }
  [[gnu::always_inline]] explicit operator double() const { return static_cast<double>(get()); }

  [[gnu::always_inline]] real& operator+=(const real& b) { return set(get() + b.get()); }
  [[gnu::always_inline]] real& operator+=(factor p) { return set(std::fma(p.a, p.b, get())); }

  [[gnu::always_inline]] friend factor operator*(const real& a, const real& b) { return {a.get(), b.get()}; }
  [[gnu::always_inline]] friend real operator+(const real& a, const real& b) { return real(a.get() + b.get()); }
  [[gnu::always_inline]] friend real operator-(const real& a, const real& b) { return real(a.get() - b.get()); }
  [[gnu::always_inline]] friend real operator+(const real& a, factor p) { return real(std::fma(p.a, p.b, a.get())); }
  [[gnu::always_inline]] friend real operator+(factor p, const real& a) { return a + p; }
  [[gnu::always_inline]] friend bool operator==(const real& a, const real& b) { return a.get() == b.get(); }

private:
  [[gnu::always_inline]] real& set(T value) {
    if (!is_own(this)) touch(this, true);
    value_ = value;
    return *this;
  }
  T value_{};
};

/// Of two products the second one is rounded first, as in the code that nvcc 13.0 makes.
template <class T, int Lanes>
[[gnu::always_inline]] inline real<T, Lanes> operator+(product<T, Lanes> p, product<T, Lanes> q) {
  return real<T, Lanes>(std::fma(p.a, p.b, q.a * q.b));
}

/// `furrow::store` and `dense::put`, which have alpha s in both their branches: there nvcc rounds that once for both.
template <class T, int L>
[[gnu::always_inline]] inline void store(real<T, L> alpha, real<T, L> sum, real<T, L> beta, real<T, L>& y) {
  const real<T, L> scaled = alpha * sum;
  y = beta == real<T, L>(0) ? scaled : scaled + beta * y;
}
template <class T, int L>
[[gnu::always_inline]] inline void put(real<T, L> alpha, real<T, L> sum, real<T, L> beta, real<T, L>& y) {
  store(alpha, sum, beta, y);
}

/// An integer in an array.
template <class T> class whole {
public:
  whole() = default;
  explicit whole(T n) : value_(n) {}
  [[gnu::always_inline]] whole(const whole& other) : value_(other) {}
  [[gnu::always_inline]] whole& operator=(const whole& other) { return *this = T(other); }
  [[gnu::always_inline]] whole& operator=(T n) {
    if (!is_own(this)) touch(this, true);
    value_ = n;
    return *this;
  }
  ~whole() = default;
  [[gnu::always_inline]] operator T() const {
    if (!is_own(this)) touch(this, false);
    return value_;
  }

private:
  T value_{};
};

/// What a played kernel takes an array of T for.
template <class T, int Lanes> struct played_type { using type = whole<T>; };
template <int Lanes> struct played_type<double, Lanes> { using type = real<double, Lanes>; };
template <int Lanes> struct played_type<float, Lanes> { using type = real<float, Lanes>; };
template <class T, int Lanes> using played = typename played_type<T, Lanes>::type;

/// The same array, of the numbers of a played kernel.
template <int Lanes, class T> view<const played<T, Lanes>> as_played(view<const T> a) {
  static_assert(sizeof(T) == sizeof(played<T, Lanes>));
  return {reinterpret_cast<const played<T, Lanes>*>(a.data), a.size};
}
template <int Lanes, class T> view<played<T, Lanes>> as_played(view<T> a) {
  return {reinterpret_cast<played<T, Lanes>*>(a.data), a.size};
}

/// Shuffles of a group of W lanes: those of backends/gpu/runtime_cuda.hpp, for warps of 32 and of 64.
template <int W> std::uint64_t group_of_lanes() {
  if constexpr (W == 64) return ~std::uint64_t(0);
  else return ((std::uint64_t(1) << W) - 1) << (running->rank / W * W);
}
template <int W, class T> T from_rank(T value, int rank) { // of the group; beyond its ends, the lane's own
  const int first = running->rank / W * W;
  T got = value;
  exchange(&got, sizeof got, group_of_lanes<W>(), rank < 0 || rank >= W ? running->rank : first + rank);
  return got;
}
template <int W, class T, int L> real<T, L> from_lane(real<T, L> value, int rank) {
  return real<T, L>(from_rank<W>(value.get(), rank));
}
template <int W, class T, int L> real<T, L> from_lane_above(real<T, L> value, int distance) {
  return real<T, L>(from_rank<W>(value.get(), running->rank % W + distance));
}
template <int W, class T, int L> real<T, L> from_lane_below(real<T, L> value, int distance) {
  return real<T, L>(from_rank<W>(value.get(), running->rank % W - distance));
}
template <int W, class T, int L> real<T, L> from_lane_across(real<T, L> value, int distance) {
  return real<T, L>(from_rank<W>(value.get(), running->rank % W ^ distance));
}

/// A load past the first cache.
template <class T, int L> [[gnu::always_inline]] inline real<T, L> __ldcs(const real<T, L>* at) { return *at; }
template <class T> [[gnu::always_inline]] inline T __ldcs(const whole<T>* at) { return *at; }

/// An element of a dense matrix as the number that it is multiplied by.
template <class T, int L> [[gnu::always_inline]] inline const real<T, L>& number(const real<T, L>& a) { return a; }

} // namespace furrow::play
