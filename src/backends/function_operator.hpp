// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/pass.hpp"

#include <furrow/operator.hpp>

/// What a `function_operator` does beside its function, and any operator for an epilogue that it has no kernel for.
namespace furrow {

/// y = alpha t + beta y; beta == 0 drops what y was.
template <class V> struct combine_step {
  V alpha, beta;
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& y, V t, sums<0>) const { y = alpha * t + (beta == V(0) ? V(0) : beta * y); }
};

/// y = beta y.
template <class V> struct rescale_step {
  V beta;
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& y, sums<0>) const { y = beta == V(0) ? V(0) : beta * y; }
};

/// The sums of `epilogue::gram` by a pass of their own.
template <class V> struct gram_step {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V y, V u, V w, sums<5> sum) const {
    const double of_y(y), of_u(u), of_w(w);
    sum[0] += of_y * of_y;
    sum[1] += of_y * of_u;
    sum[2] += of_y * of_w;
    sum[3] += of_u * of_u;
    sum[4] += of_u * of_w;
  }
};
template <class V, class S> void sweep_gram(S&& space, const typename epilogue<V>::gram& g, cview<V> y) {
  const auto to = [&](int k) { return slot{g.to.at + k}; };
  space.sweep(y.size, pass(gram_step<V>{}, in(y), in(g.u), in(g.w)), to(0), to(1), to(2), to(3), to(4));
}

#if FURROW_HAS_GPU
template <class V> void combine_on_gpu(V alpha, cview<V> t, V beta, view<V> y);
template <class V> void rescale_on_gpu(V beta, view<V> y);
template <class V> void dot_on_gpu(cview<V> x, cview<V> y, slot xy);
template <class V> void copy_on_gpu(cview<V> x, view<V> y);
template <class V> void gram_on_gpu(const typename epilogue<V>::gram& g, cview<V> y);
#else
template <class V> void combine_on_gpu(V, cview<V>, V, view<V>) { require(false, "this build has no GPU part"); }
template <class V> void rescale_on_gpu(V, view<V>) { require(false, "this build has no GPU part"); }
template <class V> void dot_on_gpu(cview<V>, cview<V>, slot) { require(false, "this build has no GPU part"); }
template <class V> void copy_on_gpu(cview<V>, view<V>) { require(false, "this build has no GPU part"); }
template <class V> void gram_on_gpu(const typename epilogue<V>::gram&, cview<V>) {
  require(false, "this build has no GPU part");
}
#endif

} // namespace furrow
