// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "kit/random.hpp"

#include "preconditioners/entry.hpp"

#include <furrow/device.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

/// What tests of multigrid ask of a cycle, whatever its levels were made of.
namespace furrow::kit {

/// M r.
template <class V> host_array<V> applied(const any_preconditioner<V>& m, const host_array<V>& r) {
  host_array<V> z(r.size(), std::numeric_limits<V>::quiet_NaN());
  m.apply(as_cview(r), as_view(z));
  return z;
}

inline double dot(const host_array<double>& x, const host_array<double>& y) {
  double sum = 0;
  for (index_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

/// M is symmetric to single precision, positive on two vectors, and has the same bits for any number of threads.
inline void expect_symmetric_positive(const char* name, const coo<double>& a) {
  SCOPED_TRACE(std::string(name) + ", " + std::to_string(a.shape.rows) + " rows");
  constexpr solver_needs definite{{true, true}, {true, true}};
  const auto m = make_preconditioner<double>(name, a, device{}, definite);
  const auto x = random_vector<double>(a.shape.rows, 1), y = random_vector<double>(a.shape.rows, 2);
  const auto mx = applied(*m, x), my = applied(*m, y);
  EXPECT_NEAR(dot(x, my), dot(y, mx), 1e-5 * std::sqrt(dot(x, x) * dot(my, my)));
  EXPECT_GT(dot(x, mx), 0);
  EXPECT_GT(dot(y, my), 0);
  for (const int threads : {1, 2, 3, 8}) {
    set_threads(threads);
    const auto again = applied(*make_preconditioner<double>(name, a, device{}, definite), x);
    EXPECT_EQ(std::memcmp(again.data(), mx.data(), mx.byte_count()), 0) << threads;
  }
  set_threads(0);
}

} // namespace furrow::kit
