// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/space.hpp>

#include <utility>

/// A pass over memory from a functor over values:
///
///   struct advance { quotient alpha; FURROW_HD void load() { alpha.load(); }
///                    FURROW_HD void operator()(double& x, double p, sums<0>) const { x += alpha * p; } };
///   space.sweep(n, pass(advance{alpha}, both(x), in(p)));
///
/// What the pass reads and writes follows from its arguments, so that a counting space cannot be told otherwise.
namespace furrow {

template <class V> struct pass_in {
  static constexpr int reads = 1, writes = 0;
  using value = V;
  cview<V> v;
  FURROW_HD void load() {}
  FURROW_HD V read(index_t i) const { return v[i]; }
  FURROW_HD void write(index_t, V) const {}
};
template <class V> struct pass_out {
  static constexpr int reads = 0, writes = 1;
  using value = V;
  view<V> v;
  FURROW_HD void load() {}
  FURROW_HD V read(index_t) const { return V(); }
  FURROW_HD void write(index_t i, V value) const { v[i] = value; }
};
template <class V> struct pass_both {
  static constexpr int reads = 1, writes = 1;
  using value = V;
  view<V> v;
  FURROW_HD void load() {}
  FURROW_HD V read(index_t i) const { return v[i]; }
  FURROW_HD void write(index_t i, V value) const { v[i] = value; }
};
/// The vector of a basis whose number is in a slot.
template <class V> struct pass_out_at {
  static constexpr int reads = 0, writes = 1;
  using value = V;
  basis<V> all;
  const double* number;
  V* v = nullptr;
  FURROW_HD void load() { v = all.data + static_cast<index_t>(*number) * all.stride; }
  FURROW_HD V read(index_t) const { return V(); }
  FURROW_HD void write(index_t i, V value) const { v[i] = value; }
};
/// What `combine` has worked out for the index; the first argument of its pass, and the first two of `combine_two`.
template <class V> struct pass_given {
  static constexpr int reads = 0, writes = 0;
  using value = V;
  FURROW_HD void load() {}
  FURROW_HD V read(index_t) const { return V(); }
  FURROW_HD void write(index_t, V) const {}
};
template <class V> pass_given<V> given() { return {}; }
template <class V> pass_in<V> in(cview<V> v) { return {v}; }
template <class V> pass_in<V> in(view<V> v) { return {v}; }
template <class V> pass_out<V> out(view<V> v) { return {v}; }
template <class V> pass_both<V> both(view<V> v) { return {v}; }
template <class V> pass_out_at<V> out(const basis<V>& all, slot number) { return {all, number.at}; }

namespace pass_detail {

/// A tuple for host and device code.
template <std::size_t K, class T> struct leaf { T value; };
template <class Numbers, class... T> struct leaves;
template <std::size_t... K, class... T> struct leaves<std::index_sequence<K...>, T...> : leaf<K, T>... {};
template <std::size_t K, class T> FURROW_HD T& get(leaf<K, T>& l) { return l.value; }
template <std::size_t K, class T> FURROW_HD const T& get(const leaf<K, T>& l) { return l.value; }

template <class F, class Numbers, class... A> struct step;
template <class F, std::size_t... K, class... A> struct step<F, std::index_sequence<K...>, A...> {
  static constexpr int reads = (A::reads + ... + 0), writes = (A::writes + ... + 0);
  static constexpr std::size_t bytes = (((A::reads + A::writes) * sizeof(typename A::value)) + ... + 0); ///< an index
  using values = leaves<std::index_sequence<K...>, typename A::value...>;

  F f;
  leaves<std::index_sequence<K...>, A...> arguments;

  FURROW_HD void load() {
    f.load();
    (get<K>(arguments).load(), ...);
  }
  /// Of `combine_two`.
  FURROW_HD void load(const pair_products& products) {
    f.load(products);
    (get<K>(arguments).load(), ...);
  }
  FURROW_HD void tell() const { f.tell(); }
  template <class V> FURROW_HD static void give(values& v, V given) { get<0>(v) = given; }
  template <class V> FURROW_HD static void give(values& v, V a, V b) {
    get<0>(v) = a;
    get<1>(v) = b;
  }
  FURROW_HD values at(index_t i) const { return {{get<K>(arguments).read(i)}...}; }
  template <int N> FURROW_HD void operator()(index_t i, values v, sums<N> sum) const {
    f(get<K>(v)..., sum);
    (get<K>(arguments).write(i, get<K>(v)), ...);
  }
};

} // namespace pass_detail

template <class F, class... A> auto pass(F f, A... arguments) {
  return pass_detail::step<F, std::index_sequence_for<A...>, A...>{f, {{arguments}...}};
}

/// x = 0.
struct set_zero {
  FURROW_HD void load() {}
  template <class V> FURROW_HD void operator()(V& x, sums<0>) const { x = V(0); }
};

/// z = d r.
struct multiply_by {
  FURROW_HD void load() {}
  template <class V> FURROW_HD void operator()(V& z, V r, V d, sums<0>) const { z = d * r; }
};

/// Sums the eighth powers of x - y and of x, both times `scale`.
struct compare {
  double scale;
  FURROW_HD void load() {}
  template <class V> FURROW_HD void operator()(V x, V y, sums<2> sum) const {
    sum[0] += eighth((double(x) - double(y)) * scale);
    sum[1] += eighth(double(x) * scale);
  }

private:
  static FURROW_HD double eighth(double v) {
    const double squared = v * v, fourth = squared * squared;
    return fourth * fourth;
  }
};

/// Sums x - x: 0 where all of x is finite, a NaN otherwise.
struct find_not_finite {
  FURROW_HD void load() {}
  template <class V> FURROW_HD void operator()(V x, sums<1> sum) const { sum[0] += double(x) - double(x); }
};

} // namespace furrow
