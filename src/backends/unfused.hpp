// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/pass.hpp"

#include <furrow/array.hpp>

#include <type_traits>

#if defined(__CUDACC__)
#include "gpu/ranks_space.hpp"
#include "gpu/unfused_kernels.hpp"
#endif

/// Vector operations one at a time, for every space: a pass each, and scalars that come home at once. What a method
/// costs that is written so, `cg_tutorial` shows.
namespace furrow::unfused {

/// sum = v1 + alpha v2.
template <class V> struct add_step {
  V alpha;
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& sum, V v1, V v2, sums<0>) const { sum = v1 + alpha * v2; }
};

/// Spaces that have the operations as functions of their own, below.
template <class S> inline constexpr bool has_kernels = false;

/// sum <- v1 + alpha v2; `sum` may be one of them. A space may bring an operation of its own.
template <vector_space S>
requires(!has_kernels<S>) void add(S& s, cview<value_of<S>> v1, value_of<S> alpha, cview<value_of<S>> v2,
                                   view<value_of<S>> sum) {
  if constexpr (requires { s.add_alone(v1, alpha, v2, sum); }) s.add_alone(v1, alpha, v2, sum);
  else s.sweep(sum.size, pass(add_step<value_of<S>>{alpha}, out(sum), in(v1), in(v2)));
}

/// x . y. Allocates the number that the pass leaves, copies it home and waits. A space may bring one of its own.
template <vector_space S>
requires(!has_kernels<S>) double dot(S& s, cview<value_of<S>> x, cview<value_of<S>> y) {
  if constexpr (requires { s.dot_alone(x, y); }) {
    return s.dot_alone(x, y);
  } else {
    auto sum = s.make_slots(1);
    s.dot(x, y, slot{sum.data()});
    return s.read(slot{sum.data()});
  }
}

#if defined(__CUDACC__)

template <class V> inline constexpr bool has_kernels<gpu::space<V>> = true;
template <class V> inline constexpr bool has_kernels<gpu::ranks_space<V>> = true; ///< of one rank

/// On a GPU, by the tutorial's kernel.
template <class V>
void add(gpu::space<V>&, std::type_identity_t<cview<V>> v1, std::type_identity_t<V> alpha,
         std::type_identity_t<cview<V>> v2, view<V> sum) {
  const gpu::queue& q = gpu::current_queue();
  gpu::launch(add_kernel<V>, gpu::blocks_for(sum.size, vector_threads, q), vector_threads, 0, q, v1, alpha, v2, sum);
}

/// The same on a GPU: allocates a partial sum a block, copies them home, waits, and adds them in their order.
template <class V> double dot(gpu::space<V>&, std::type_identity_t<cview<V>> x, std::type_identity_t<cview<V>> y) {
  const gpu::queue& q = gpu::current_queue();
  const unsigned blocks = gpu::blocks_for(x.size, vector_threads, q);
  gpu_array<double> partial(blocks);
  gpu::launch(dot_kernel<V>, blocks, vector_threads, 0, q, x, y, as_view(partial));
  double total = 0;
  for (const double share : host_array<double>(partial)) total += share;
  return total;
}

#endif

} // namespace furrow::unfused
