// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "ways.hpp"

#include "../call.hpp"
#include "../tutorial.hpp"

#include "backends/gpu/queue.hpp"

namespace furrow::dense {

/// Room for `bytes` of partial sums and for most_counters counters, which are 0, on the selected GPU. Kept and grown.
gpu_scratch<void> scratch_for(std::size_t bytes);

/// What the ways are told of a call.
template <class T> gemv_shape shape_of(const call<T>& c) {
  using V = vector_value<T>;
  gemv_shape p{c.lines, c.length, c.leading, c.batch, sizeof(T), sizeof(V), c.count};
  const auto steps = [&](index_t elements, int each) { return c.batch == 1 || elements % each == 0; };
  p.a_aligned = !c.a_list && misalignment(c.a) == 0 && steps(c.a_step, per_load<T>);
  p.x_aligned = !c.x_list && misalignment(c.x) == 0 && steps(c.x_step, per_load<V>) && c.x_stride == 1 &&
                (c.count == 1 || c.x_next % per_load<V> == 0);
  p.y_aligned = c.batch == 1 && !c.y_list && !c.a_list && !c.x_list && c.y_stride == 1 && misalignment(c.y) == 0;
  return p;
}

inline constexpr index_t most_problems = 65535; ///< of a launch: the third side of a grid

template <int Rhs, class S, class T, class Plan>
void enqueue(const gpu_kernel<T, S, Plan>& kernel, const call<T>& c, const Plan& p, const gpu::queue& q) {
  // The sums of a piece: those of a tile of every vector that the kernel counts with.
  const index_t sums = p.pieces > 1 ? std::min(c.batch, most_problems) * p.tiles * p.pieces * p.outputs * Rhs : 0;
  const auto scratch = scratch_for(checked_bytes(sums, sizeof(S)));
  require(p.tiles < index_t(1) << 31 && p.pieces < 1 << 16, "gemv: a side of the grid is too long");
  for (index_t first = 0; first < c.batch; first += most_problems) {
    const call<T> some = c.part(first, std::min(most_problems, c.batch - first));
    kernel.run<<<dim3(unsigned(p.tiles), unsigned(p.pieces), unsigned(some.batch)), unsigned(kernel.threads),
                 kernel.shared_bytes, q.stream>>>(some, p, {static_cast<S*>(scratch.partial), scratch.arrived});
    gpu::check_launch();
  }
}

/// By the first way that fits, or by the one of that name; whether there is one. Rhs: the least of 1, 2, 4, 8 that the
/// vectors need.
template <int Rhs, class S, class T> bool run_by_a_way(const call<T>& c, std::string_view kernel, const gpu::queue& q) {
  const gemv_shape p = shape_of(c);
  const auto take = [&]<class Way>() {
    if constexpr (!Way::one_vector || Rhs == 1) {
      if (kernel != "auto" && kernel != Way::name) return false;
      const auto plan = Way::fits(p, q.multiprocessors);
      if (plan) enqueue<Rhs, S>(kernel_of<T, S, Rhs>(Way{}, *plan), c, *plan, q);
      return plan.has_value();
    } else {
      return false;
    }
  };
  return c.across ? any_way(across_ways{}, take) : any_way(along_ways{}, take);
}

template <class S, class T> bool launch(const call<T>& c, std::string_view kernel, const gpu::queue& q) {
  if (c.count == 1) return run_by_a_way<1, S>(c, kernel, q);
  if (c.count == 2) return run_by_a_way<2, S>(c, kernel, q);
  return c.count <= 4 ? run_by_a_way<4, S>(c, kernel, q) : run_by_a_way<8, S>(c, kernel, q);
}

/// In a source of its own: sums in double are as many kernels as sums in float, and take as long to compile.
extern template bool launch<double>(const call<float>&, std::string_view, const gpu::queue&);

template <class T> bool run_on_gpu(const call<T>& c, std::string_view kernel) {
  const gpu::queue& q = gpu::current_queue();
  bool served = true;
  if (c.terms() == 0 || c.alpha == vector_value<T>(0)) { // sums of nothing
    call<T> none = c;
    (c.across ? none.lines : none.length) = 0;
    launch<vector_value<T>>(none, c.across ? "across" : "along", q);
  } else if (const auto name = kernel_name(kernel); name == "naive" || name == "tiled") {
    const int asked = read_kernel_numbers(kernel).block, threads = asked ? asked : tutorial_threads;
    const index_t blocks = up(c.lines, threads);
    check(blocks < (index_t(1) << 31), fault::usage, "gemv: more rows than the tutorial's kernels can have blocks for");
    const auto run = name == "naive" ? naive_kernel<T> : tiled_in_blocks<T>(threads);
    run<<<static_cast<unsigned>(blocks), threads, 0, q.stream>>>(c);
  } else if (c.f64_sums && sizeof(T) == 4) {
    if constexpr (std::is_same_v<T, float>) served = launch<double>(c, kernel, q);
  } else {
    served = launch<vector_value<T>>(c, kernel, q);
  }
  gpu::check_launch();
  return served;
}

} // namespace furrow::dense
