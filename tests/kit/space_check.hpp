// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "random.hpp"

#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

#include <furrow/array.hpp>
#include <furrow/space.hpp>
#include <furrow/value.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

/// What every vector space promises, for plain C++ and for CUDA sources alike.
namespace furrow::kit {

/// y <- 2 x + c y; sums x y and 1.
template <class V> struct probe_step {
  static constexpr int reads = 2, writes = 1;
  cview<V> x;
  view<V> y;
  guarded_quotient c;
  FURROW_HD void load() { c.load(); }
  struct values {
    V x, y;
  };
  FURROW_HD values at(index_t i) const { return {x[i], y[i]}; }
  FURROW_HD void operator()(index_t i, values v, sums<2> sum) const {
    sum[0] += double(v.x) * double(v.y);
    sum[1] += 1;
    y[i] = V(2) * v.x + V(c) * v.y;
  }
};

/// slot += 1 by way of a vector of one element; what a loop repeats.
template <class V> struct count_up {
  static constexpr int reads = 1, writes = 1;
  view<V> y;
  FURROW_HD void load() {}
  FURROW_HD V at(index_t i) const { return y[i]; }
  FURROW_HD void operator()(index_t i, V before, sums<1> sum) const {
    y[i] = before + V(1);
    sum[0] += double(y[i]);
  }
};

struct reached {
  const double* at;
  double limit;
  FURROW_HD bool operator()() const { return *at >= limit; }
};

template <class S> auto to_space(S& space, const host_array<value_of<S>>& values) {
  return decltype(space.make(0))(values);
}

inline const index_t probe_sizes[] = {0, 1, 7, 8, 9, 31, 32, 33, 255, 256, 257, 4095, 4096, 4097, 8191, 100003};

/// Sums, writes and the coefficient of a sweep, against long double.
template <class S> void check_sweep(S& space, index_t n) {
  using V = value_of<S>;
  SCOPED_TRACE(n);
  const auto x = random_vector<V>(n, 1), y = random_vector<V>(n, 2);
  const auto device_x = to_space(space, x);
  auto device_y = to_space(space, y);
  auto slots = space.make_slots(4);
  const host_array<double> start{3, 4, std::nan(""), std::nan("")};
  space.put(as_cview(start), as_view(slots));
  const slot three{slots.data()}, four{slots.data() + 1}, xy{slots.data() + 2}, count{slots.data() + 3};
  space.sweep(n, probe_step<V>{as_cview(device_x), as_view(device_y), {three, four}}, xy, count);
  const host_array<V> result(device_y);
  long double expected = 0, size = 0;
  for (index_t i = 0; i < n; ++i) {
    expected += static_cast<long double>(x[i]) * y[i];
    size += std::fabs(static_cast<long double>(x[i]) * y[i]);
    const V half = V(0.75) * y[i];
    ASSERT_NEAR(double(result[i]), double(V(2) * x[i] + half), 4 * std::numeric_limits<V>::epsilon()) << i;
  }
  EXPECT_LE(std::fabs(space.read(xy) - expected), static_cast<long double>(n + 1) * 0x1p-53L * size);
  EXPECT_EQ(space.read(count), double(n));
  EXPECT_EQ(space.read(three), 3);
}

/// The same bits on every run.
template <class S> void check_dot(S& space, index_t n, int repeats = 20) {
  using V = value_of<S>;
  SCOPED_TRACE(n);
  const auto x = random_vector<V>(n, 3), y = random_vector<V>(n, 4);
  const auto device_x = to_space(space, x), device_y = to_space(space, y);
  auto slots = space.make_slots(1);
  long double expected = 0, size = 0;
  for (index_t i = 0; i < n; ++i) {
    expected += static_cast<long double>(x[i]) * y[i];
    size += std::fabs(static_cast<long double>(x[i]) * y[i]);
  }
  space.dot(as_cview(device_x), as_cview(device_y), slot{slots.data()});
  const double first = space.read(slot{slots.data()});
  EXPECT_LE(std::fabs(first - expected), static_cast<long double>(n + 1) * 0x1p-53L * size);
  for (int k = 0; k < repeats; ++k) {
    space.dot(as_cview(device_x), as_cview(device_y), slot{slots.data()});
    ASSERT_EQ(space.read(slot{slots.data()}), first) << "repeat " << k;
  }
}

template <class S> void check_copy(S& space, index_t n) {
  using V = value_of<S>;
  const auto x = random_vector<V>(n, 5);
  const auto device_x = to_space(space, x);
  auto device_y = to_space(space, host_array<V>(n, V(9)));
  space.copy(as_cview(device_x), as_view(device_y));
  const host_array<V> y(device_y);
  EXPECT_TRUE(n == 0 || std::memcmp(x.data(), y.data(), x.byte_count()) == 0) << n;
}

/// A guarded quotient over a number that is not positive is 0: the step is no step.
template <class S> void check_guarded_quotient(S& space) {
  using V = value_of<S>;
  for (const double den : {0.0, -1.0, std::nan("")}) {
    auto x = to_space(space, host_array<V>{1, 2}), y = to_space(space, host_array<V>{5, 6});
    auto slots = space.make_slots(4);
    const host_array<double> start{7, den, 0, 0};
    space.put(as_cview(start), as_view(slots));
    double* const s = slots.data();
    space.sweep(2, probe_step<V>{as_cview(x), as_view(y), {slot{s}, slot{s + 1}}}, slot{s + 2}, slot{s + 3});
    const host_array<V> result(y);
    EXPECT_EQ(result[0], V(2)) << den;
    EXPECT_EQ(result[1], V(4)) << den;
  }
}

/// A loop stops as soon as `until` holds, not later; it can go on afterwards, and says whether it was stopped.
template <class S> void check_repeat(S& space) {
  using V = value_of<S>;
  auto y = to_space(space, host_array<V>(1, V(0)));
  auto slots = space.make_slots(1);
  const slot total{slots.data()};
  auto loop = space.repeat([&] { space.sweep(1, count_up<V>{as_view(y)}, total); }, reached{slots.data(), 7});
  EXPECT_FALSE(loop.run(3));
  EXPECT_EQ(space.read(total), 3);
  EXPECT_TRUE(loop.run(100));
  EXPECT_EQ(space.read(total), 7);
  EXPECT_TRUE(loop.run(5)); // the body runs before `until` is asked
  EXPECT_EQ(space.read(total), 8);
  EXPECT_FALSE(loop.run(0));
  EXPECT_EQ(space.read(total), 8);
}

template <class S> void check_slots(S& space) {
  auto slots = space.make_slots(100);
  host_array<double> home(100, 1.0);
  space.fetch(as_cview(slots), as_view(home));
  for (const double v : home) EXPECT_EQ(v, 0);
  for (index_t i = 0; i < 100; ++i) home[i] = double(i);
  space.put(part(as_cview(home), 10, 20), part(as_view(slots), 50, 20));
  EXPECT_EQ(space.read({slots.data() + 49}), 0);
  EXPECT_EQ(space.read({slots.data() + 50}), 10);
  EXPECT_EQ(space.read({slots.data() + 69}), 29);
  EXPECT_EQ(space.read({slots.data() + 70}), 0);
}

/// w + V h; keeps it in the vector of the basis that a slot names, and sums its squares.
struct extend {
  FURROW_HD void load() {}
  template <class V, class E> FURROW_HD void operator()(V along, V w, E& next, sums<1> sum) const {
    next = E(w + along);
    sum[0] += double(next) * double(next);
  }
};

/// Products with the first `used` vectors of a basis of `most`, which is kept in E, against long double.
template <class E, class S> void check_basis(S& space, index_t n, index_t most, index_t used) {
  using V = value_of<S>;
  using exact = long double;
  SCOPED_TRACE(testing::Message() << n << " elements, " << used << " of " << most << " vectors");
  const index_t stride = basis<E>::stride_of(n);
  const auto values = random_vector<E>(stride * (most + 1), 21);
  const auto w = random_vector<V>(n, 22);
  auto memory = space.template make_basis<E>(n, most + 1);
  ASSERT_EQ(memory.size(), values.size());
  memory = decltype(memory)(values);
  const basis<E> all{memory.data(), n};
  auto device_w = to_space(space, w);
  auto slots = space.make_slots(3 + 2 * most);
  host_array<double> home(slots.size(), 0.0);
  const auto given_h = random_vector<double>(most, 23);
  home[0] = double(used);
  for (index_t k = 0; k < most; ++k) home[3 + k] = given_h[k];
  space.put(as_cview(home), as_view(slots));
  const slot count{slots.data()}, squares{slots.data() + 1}, norm{slots.data() + 2}, h{slots.data() + 3},
      g{slots.data() + 3 + most};

  const auto element = [&](index_t k, index_t i) { return exact(values[k * stride + i]); };
  const exact unit = std::numeric_limits<V>::epsilon();
  const auto expect_projected = [&](const host_array<V>& of, slot first, const char* what) {
    for (index_t k = 0; k <= used; ++k) {
      exact sum = 0, size = 0;
      for (index_t i = 0; i < n; ++i) {
        const exact term = (k < used ? element(k, i) : exact(of[i])) * exact(of[i]);
        sum += term, size += std::fabs(term);
      }
      const double got = space.read(k < used ? slot{first.at + k} : squares);
      EXPECT_LE(std::fabs(exact(got) - sum), exact(n + 1) * 0x1p-53L * size) << what << " " << k;
    }
  };
  space.project(all, count, as_cview(device_w), g, squares);
  expect_projected(w, g, "V'w");

  space.combine(all, count, h, pass(extend{}, given<V>(), in(as_cview(device_w)), out(all, count)), norm);
  const host_array<E> extended(memory);
  exact sum = 0;
  for (index_t i = 0; i < n; ++i) {
    exact along = 0, size = std::fabs(exact(w[i]));
    for (index_t k = 0; k < used; ++k) {
      along += exact(given_h[k]) * element(k, i);
      size += std::fabs(exact(given_h[k]) * element(k, i));
    }
    const exact got = extended[used * stride + i];
    const exact of_kept = std::numeric_limits<E>::epsilon();
    ASSERT_LE(std::fabs(got - (exact(w[i]) + along)), exact(used + 1) * unit * size + of_kept * size) << i;
    sum += got * got;
  }
  EXPECT_LE(std::fabs(exact(space.read(norm)) - sum), exact(n + 1) * 0x1p-52L * sum);

  space.subtract_and_project(all, count, h, as_view(device_w), g, squares);
  const host_array<V> rest(device_w);
  for (index_t i = 0; i < n; ++i) {
    exact along = 0, size = std::fabs(exact(w[i]));
    for (index_t k = 0; k < used; ++k) {
      along += exact(given_h[k]) * element(k, i);
      size += std::fabs(exact(given_h[k]) * element(k, i));
    }
    ASSERT_LE(std::fabs(exact(rest[i]) - (exact(w[i]) - along)), exact(used + 2) * unit * size) << i;
  }
  expect_projected(rest, g, "V'(w - V h)");
  const double first = used > 0 ? space.read(g) : space.read(squares);
  for (int repeat = 0; repeat < 5; ++repeat) {
    space.project(all, count, as_cview(device_w), g, squares);
    ASSERT_EQ(used > 0 ? space.read(g) : space.read(squares), first) << "repeat " << repeat;
  }
}

/// Keeps u - a, makes u out of w + b: a step of `combine_two`, which says what it was told.
template <class V> struct mix {
  double* told;
  pair_products of{};
  FURROW_HD void load(const pair_products& p) { of = p; }
  FURROW_HD void tell() const {
    told[0] = of.aa;
    told[1] = of.ab;
    told[2] = of.bb;
  }
  template <class E> FURROW_HD void operator()(V a, V b, V& u, V w, E& next, sums<1> sum) const {
    next = E(u - a);
    u = w + b;
    sum[0] += double(u) * double(u);
  }
};

/// Products of the first `used` vectors of a basis of `most` with two vectors at once, against long double.
template <class E, class S> void check_basis_pair(S& space, index_t n, index_t most, index_t used) {
  using V = value_of<S>;
  using exact = long double;
  SCOPED_TRACE(testing::Message() << "two at once, " << n << " elements, " << used << " of " << most << " vectors");
  const index_t stride = basis<E>::stride_of(n);
  const auto values = random_vector<E>(stride * (most + 1), 21);
  const auto u = random_vector<V>(n, 22), w = random_vector<V>(n, 24);
  auto memory = space.template make_basis<E>(n, most + 1);
  memory = decltype(memory)(values);
  const basis<E> all{memory.data(), n};
  auto device_u = to_space(space, u), device_w = to_space(space, w);
  const index_t own = 5, room = 2 * most + 4;
  auto slots = space.make_slots(own + 2 * room);
  host_array<double> home(slots.size(), -7.0);
  const auto given_h = random_vector<double>(2 * most, 23);
  home[0] = double(used);
  for (index_t k = 0; k < 2 * most; ++k) home[own + room + k] = given_h[k];
  space.put(as_cview(home), as_view(slots));
  double* const s = slots.data();
  const slot count{s}, norm{s + 1}, g{s + own}, h{s + own + room};

  space.project_two(all, count, as_cview(device_u), as_cview(device_w), g);
  space.fetch(as_cview(slots), as_view(home));
  const auto expect_dot = [&](double got, auto first, auto second, const char* what, index_t k) {
    exact sum = 0, size = 0;
    for (index_t i = 0; i < n; ++i) {
      const exact term = exact(first(i)) * exact(second(i));
      sum += term, size += std::fabs(term);
    }
    EXPECT_LE(std::fabs(exact(got) - sum), exact(n + 1) * 0x1p-53L * size) << what << " " << k;
  };
  const auto of_u = [&](index_t i) { return u[i]; };
  const auto of_w = [&](index_t i) { return w[i]; };
  EXPECT_EQ(home[own], double(2 * used + 2));
  expect_dot(home[own + 1], of_u, of_u, "u'u", 0);
  expect_dot(home[own + 2], of_u, of_w, "u'w", 0);
  expect_dot(home[own + 3], of_w, of_w, "w'w", 0);
  for (index_t k = 0; k < used; ++k) {
    const auto of_v = [&](index_t i) { return values[k * stride + i]; };
    expect_dot(home[own + 4 + 2 * k], of_v, of_u, "V'u", k);
    expect_dot(home[own + 5 + 2 * k], of_v, of_w, "V'w", k);
  }
  for (index_t k = 2 * used + 4; k < room; ++k) ASSERT_EQ(home[own + k], -7.0) << "behind the sums, " << k;
  const host_array<double> first(home);
  for (int repeat = 0; repeat < 3; ++repeat) {
    space.project_two(all, count, as_cview(device_u), as_cview(device_w), g);
    space.fetch(as_cview(slots), as_view(home));
    ASSERT_EQ(0, std::memcmp(first.data(), home.data(), home.byte_count())) << "repeat " << repeat;
  }

  space.combine_two(
      all, count, h,
      pass(mix<V>{s + 2}, given<V>(), given<V>(), both(as_view(device_u)), in(as_cview(device_w)), out(all, count)),
      norm);
  space.fetch(as_cview(slots), as_view(home));
  const host_array<E> extended(memory);
  const host_array<V> changed(device_u);
  pair_products told;
  for (index_t k = 0; k < used; ++k) told.add(given_h[2 * k], given_h[2 * k + 1]);
  EXPECT_NEAR(home[2], told.aa, 1e-14 * double(used));
  EXPECT_NEAR(home[3], told.ab, 1e-14 * double(used));
  EXPECT_NEAR(home[4], told.bb, 1e-14 * double(used));
  exact sum = 0;
  for (index_t i = 0; i < n; ++i) {
    exact a = 0, b = 0, of_a = std::fabs(exact(u[i])), of_b = std::fabs(exact(w[i]));
    for (index_t k = 0; k < used; ++k) {
      const exact v = values[k * stride + i];
      a += exact(given_h[2 * k]) * v, of_a += std::fabs(exact(given_h[2 * k]) * v);
      b += exact(given_h[2 * k + 1]) * v, of_b += std::fabs(exact(given_h[2 * k + 1]) * v);
    }
    const exact unit = exact(used + 1) * std::numeric_limits<V>::epsilon(), kept = std::numeric_limits<E>::epsilon();
    ASSERT_LE(std::fabs(exact(extended[used * stride + i]) - (exact(u[i]) - a)), (unit + kept) * of_a) << i;
    ASSERT_LE(std::fabs(exact(changed[i]) - (exact(w[i]) + b)), unit * of_b) << i;
    sum += exact(changed[i]) * exact(changed[i]);
  }
  EXPECT_LE(std::fabs(exact(home[1]) - sum), exact(n + 1) * 0x1p-52L * sum);
}

/// Everything above.
template <class S> void check_space(S& space) {
  for (const index_t n : probe_sizes) {
    check_sweep(space, n);
    check_dot(space, n);
    check_copy(space, n);
    for (const index_t used : {0, 1, 3, 4, 5, 30}) {
      check_basis<value_of<S>>(space, n, 30, used);
      check_basis_pair<value_of<S>>(space, n, 30, used);
      if (is_wide<value_of<S>>) {
        check_basis<float>(space, n, 30, used);
        check_basis_pair<float>(space, n, 30, used);
      }
    }
  }
  for (const index_t used : {8, 9, 17, 127, 128, 129, 300}) check_basis_pair<value_of<S>>(space, 1000, 300, used);
  check_guarded_quotient(space);
  check_repeat(space);
  check_slots(space);
}

} // namespace furrow::kit
