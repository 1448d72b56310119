// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/operator.hpp>

#include <concepts>

namespace furrow {

/// The running sums of one lane of a sweep; `sum[k]` is added to slot k.
template <int N> struct sums {
  double* at;
  int stride;
  FURROW_HD double& operator[](int k) const { return at[k * stride]; }
};

/// One pass over n indices: a trivially copyable functor. `load()` is called once a thread before its first index;
/// then, for every index in any order, `at(i)` reads what the step needs and `step(i, values, sum)` computes and
/// writes. Apart, so that the reads of several indices are under way at once. reads, writes: vectors that it streams,
/// so that a counting space can check what a solver promises.
template <class Step, int N>
concept sweep_step = std::is_trivially_copyable_v<Step> && requires(Step step, index_t i, sums<N> sum) {
  step.load();
  step(i, step.at(i), sum);
  { Step::reads + Step::writes } -> std::convertible_to<int>;
};

/// Vectors v_0, v_1, ... of n elements side by side in one allocation, each on a boundary of 64 bytes: the basis of a
/// Krylov space. A space's `make_basis` gives the memory. Their elements may be narrower than those of the vectors that
/// they are multiplied with: what is read is widened, and sums are the same as of the wide numbers.
template <class V> struct basis {
  V* data = nullptr;
  index_t n = 0, stride = 0;

  basis() = default;
  basis(V* data, index_t n) : data(data), n(n), stride(stride_of(n)) {}
  FURROW_HD view<V> operator[](index_t k) const { return {data + k * stride, n}; }
  static index_t stride_of(index_t n) { return (n + per_line - 1) / per_line * per_line; }

private:
  static constexpr index_t per_line = 64 / sizeof(V);
};

/// Of two rows of coefficients a and b: a'a, a'b and b'b.
struct pair_products {
  double aa = 0, ab = 0, bb = 0;
  FURROW_HD void add(double a, double b) {
    aa += a * a;
    ab += a * b;
    bb += b * b;
  }
};

/// Where vectors live. Everything but `read`, `fetch` and a loop's `run` only enqueues; those wait.
///
/// make(n)               n elements of value, uninitialised
/// make_slots(n)         n slots, 0, in an array of double
/// copy(x, y)            y <- x
/// sweep(n, step, s...)  one pass over [0, n); the slots s receive the sums of `step`; the same bits on every run
/// dot(x, y, s)          s = x . y; one pass
/// read(s)               the number in a slot; waits
/// fetch(from, to)       many of them at once; waits
/// put(from, to)         slots from host memory
/// scalars(f)            f() once, where the slots are: small algebra beside the vectors
/// repeat(body, until, waits)  a loop object; its run(n) calls `body` up to n times, and after each of them evaluates
///                       `until()` beside the vectors; returns true as soon as that is true. `body` must enqueue the
///                       same work each time, and must not wait, unless `waits`: then the host calls it each time.
///
/// Of a basis, its first k vectors, where k is read from a slot when the work is done, and is at most what the basis
/// was made for. h, g: k slots from there on. Each streams V once, however many sums it makes, in a fixed order:
/// make_basis<E>(n, most)   memory for `most` vectors of n elements of E, without it `value`
/// project(V, k, w, h, ww)              h = V' w,  ww = w . w
/// subtract_and_project(V, k, h, w, g, ww)  w -= V h,  then g = V' w,  ww = w . w
/// combine(V, k, h, step, s...)         a sweep whose step is given (V h)_i, see `pass_given`
/// project_two(V, k, u, w, g)           g = 2 k + 2, how many follow the next one; u . u; u . w; w . w; then v_i . u
///                       and v_i . w side by side, 2 k + 4 slots in all; of at most 382 vectors
/// combine_two(V, k, h, step, s...)     a sweep whose step is given (V a)_i and (V b)_i, where h has a and b side by
///                       side, 2 k slots. In place of `load()` it has `load(pair_products)`, those of a and b, and
///                       `tell()`, called once a pass after that: may write slots that the pass does not read
template <class S>
concept vector_space = requires(S& s, slot a, cview<typename S::value> x, view<typename S::value> y, index_t n) {
  s.make(n);
  s.make_slots(n);
  s.copy(x, y);
  s.dot(x, x, a);
  { s.read(a) } -> std::same_as<double>;
  s.fetch(cview<double>{}, view<double>{});
  s.put(cview<double>{}, view<double>{});
};
template <vector_space S> using value_of = typename S::value;

/// x . y as a step.
template <class V> struct dot_step {
  static constexpr int reads = 2, writes = 0;
  struct values {
    V x, y;
  };
  cview<V> x, y;
  FURROW_HD void load() {}
  FURROW_HD values at(index_t i) const { return {x[i], y[i]}; }
  FURROW_HD void operator()(index_t, values v, sums<1> sum) const { sum[0] += double(v.x) * double(v.y); }
};

/// y <- d .* x as a step.
template <class V> struct scale_step {
  static constexpr int reads = 2, writes = 1;
  struct values {
    V d, x;
  };
  cview<V> d, x;
  view<V> y;
  FURROW_HD void load() {}
  FURROW_HD values at(index_t i) const { return {d[i], x[i]}; }
  FURROW_HD void operator()(index_t i, values v, sums<0>) const { y[i] = v.d * v.x; }
};

} // namespace furrow
