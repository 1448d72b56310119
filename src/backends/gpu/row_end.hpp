// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "reduce.hpp"

#include "backends/lanes.hpp"

#include <furrow/operator.hpp>

/// How a kernel ends a row of a product: stores it, with what an `epilogue` asks for.
namespace furrow::gpu {

/// Blocks a multiprocessor of a product with sums: as many as run at a time, for each more ends its sums, too. With 16
/// a step of bicgstab on web-NotreDame took 51.9 us for 45.8, one of cg on elasticity3d:40 in bcsr 65.7 for 61.1, on
/// lap_wave in csr 33.9 for 31.1 (f64, H200).
inline constexpr int blocks_with_sums = 4;

/// How many sums a kernel takes along that takes more than one.
inline constexpr int gram_sums = epilogue<double>::gram::count;

/// y <- alpha A x + beta z, and N sums, which are none, y . u, or the five of `epilogue::gram`: z is y or another
/// vector, u any vector, a single one y itself too. A kernel calls it once a row, by one thread, and hands the thread's
/// shares to `finish`. One kernel serves every z and u; a number that has just been stored is not read again.
template <class V, int N> struct row_end : sum_target<N> {
  static constexpr int vectors = N == 1 ? 1 : 2;
  static_assert(N == 1 || N == gram_sums);
  const V* z;
  const V* u[vectors];

  __device__ void operator()(V alpha, V sum, V beta, view<V> y, index_t row, double* mine) const {
    const V value = beta == V(0) ? alpha * sum : alpha * sum + beta * z[row];
    y[row] = value;
    const double of_y(value);
    if constexpr (N == 1) {
      mine[0] += double(u[0] == y.data ? value : u[0][row]) * of_y;
    } else {
      const double of_u(u[0][row]), of_w(u[1][row]);
      mine[0] += of_y * of_y;
      mine[1] += of_y * of_u;
      mine[2] += of_y * of_w;
      mine[3] += of_u * of_u;
      mine[4] += of_u * of_w;
    }
  }
};

/// Without sums: y <- alpha A x + beta y.
template <class V> struct row_end<V, 0> : sum_target<0> {
  static constexpr int vectors = 0;

  __device__ void operator()(V alpha, V sum, V beta, view<V> y, index_t row, double*) const {
    store(alpha, sum, beta, y[row]);
  }
};

/// run(alpha, beta, row_end) for what `e` asks of a product with sums; false, and nothing done, where it asks for none.
template <class V, class F> bool with_row_end(const epilogue<V>& e, view<V> y, const queue& q, F run) {
  const bool residual = e.b.data != nullptr;
  const V alpha(residual ? -1 : 1), beta(residual ? 1 : 0);
  const V* const z = residual ? e.b.data : y.data;
  if (e.one.to.at) run(alpha, beta, row_end<V, 1>{target(q, e.one.to), z, {e.one.u.data}});
  if (e.all.to.at) {
    const auto to = [&](int k) { return slot{e.all.to.at + k}; };
    run(alpha, beta,
        row_end<V, gram_sums>{target(q, to(0), to(1), to(2), to(3), to(4)), z, {e.all.u.data, e.all.w.data}});
  }
  return e.count() > 0;
}

} // namespace furrow::gpu
