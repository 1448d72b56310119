// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_across.hpp"
#include "gpu_along.hpp"
#include "gpu_few.hpp"
#include "gpu_flat.hpp"
#include "gpu_packed.hpp"
#include "gpu_staged.hpp"
#include "tutorial.hpp"

namespace furrow::dense {

/// Room for `bytes` of partial sums and for most_counters counters, which are 0, on the selected GPU. Kept and grown.
gpu_scratch<void> scratch_for(std::size_t bytes);

/// y <- beta y, without reading y where beta is 0.
template <class T> __global__ void scale_kernel(call<T> c) {
  const index_t each = c.outputs() * c.count, total = each * c.batch;
  for (index_t i = index_t(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += index_t(gridDim.x) * blockDim.x) {
    const index_t output = i % each;
    vector_value<T>& y = c.y_of(i / each)[output / c.count * c.y_stride + output % c.count * c.y_next];
    put(vector_value<T>(0), vector_value<T>(0), c.beta, y);
  }
}

/// The plan of a call.
template <class T> gpu_plan plan_of(const call<T>& c, int multiprocessors) {
  constexpr int size = sizeof(T), value = sizeof(vector_value<T>);
  if (c.across) return plan_across(c.lines, c.length, c.leading, c.batch, size, c.count, {multiprocessors});
  return plan_along(c.lines, c.length, c.leading, c.batch, size, value, c.count, {multiprocessors});
}

template <class T, class S, int Rhs> class launcher {
public:
  launcher(const call<T>& c, const gpu::queue& q) : c_(c), q_(q), p_(plan_of(c, q.multiprocessors)) {
    // The sums of a piece: those of a tile of every vector that the kernel counts with.
    const index_t sums = p_.pieces > 1 ? c.batch * p_.tiles * p_.pieces * p_.outputs * Rhs : 0;
    const auto scratch = scratch_for(checked_bytes(sums, sizeof(S)));
    scratch_ = {static_cast<S*>(scratch.partial), scratch.arrived};
  }

  void run() const {
    if (p_.kind == gpu_kind::staged) return enqueue(staged_kernel<T, S, Rhs>);
    if (p_.kind == gpu_kind::flat) return enqueue(flat_kernel<T, S, Rhs>);
    if (p_.kind == gpu_kind::across && p_.outputs == gpu_threads * per_load<T>)
      return enqueue(across_kernel<T, S, Rhs, 1>);
    if constexpr (Rhs == 1) {
      if (p_.kind == gpu_kind::few && p_.rows == 2) return enqueue(few_kernel<T, S, 2>);
      if (p_.kind == gpu_kind::few && p_.rows == 4) return enqueue(few_kernel<T, S, 4>);
      if (p_.kind == gpu_kind::few) return enqueue(few_kernel<T, S, 8>);
      if (p_.kind == gpu_kind::across && p_.outputs == 8 * per_load<T>) return enqueue(across_kernel<T, S, 1, 32>);
    }
    if (p_.kind == gpu_kind::across) return enqueue(across_kernel<T, S, Rhs, 8>);
    if constexpr (Rhs == 1) {
      if (p_.kind == gpu_kind::packed) return enqueue(packed());
      if (p_.rows == 1) return enqueue(along_kernel<T, S, 1, 256, 1, 8>);
      if (p_.lanes == 1 && p_.rows == 4) return enqueue(along_kernel<T, S, 1, 1, 4, 2>);
      if (p_.lanes == 1) return enqueue(along_kernel<T, S, 1, 1, 2, 4>);
      if (p_.lanes == 2) return enqueue(along_kernel<T, S, 1, 2, 2, 4>);
      if (p_.rows == 2 && c_.length >= 1024 * per_load<T>) return enqueue(along_kernel<T, S, 1, 256, 2, 4>);
      if (p_.rows == 2) return enqueue(along_kernel<T, S, 1, 256, 2, 2>);
    }
    constexpr int rows = Rhs > 4 ? 2 : 4, unroll = Rhs > 2 ? 1 : 2;
    if (p_.lanes == 8) return enqueue(along_kernel<T, S, Rhs, 8, rows, unroll>);
    if (p_.lanes == 32) return enqueue(along_kernel<T, S, Rhs, 32, rows, unroll>);
    enqueue(along_kernel<T, S, Rhs, 256, rows, unroll>);
  }

private:
  auto packed() const {
    if constexpr (per_load<T> >= 8)
      if (c_.length == 8) return packed_kernel<T, S, 8>;
    if constexpr (per_load<T> >= 4)
      if (c_.length == 4) return packed_kernel<T, S, 4>;
    return c_.length == 2 ? packed_kernel<T, S, 2> : packed_kernel<T, S, 1>;
  }

  void enqueue(void (*kernel)(call<T>, gpu_plan, gpu_scratch<S>)) const {
    kernel<<<p_.blocks, gpu_threads, 0, q_.stream>>>(c_, p_, scratch_);
  }

  const call<T>& c_;
  const gpu::queue& q_;
  gpu_plan p_;
  gpu_scratch<S> scratch_;
};

template <class S, class T> void launch(const call<T>& c, const gpu::queue& q) {
  if (c.count == 1) launcher<T, S, 1>(c, q).run();
  else if (c.count == 2) launcher<T, S, 2>(c, q).run();
  else if (c.count <= 4) launcher<T, S, 4>(c, q).run();
  else launcher<T, S, 8>(c, q).run();
}

template <class T> void run_on_gpu(const call<T>& c, std::string_view kernel) {
  const gpu::queue& q = gpu::current_queue();
  if (c.terms() == 0 || c.alpha == vector_value<T>(0)) {
    scale_kernel<<<gpu::blocks_for(c.outputs() * c.count * c.batch, gpu_threads, q), gpu_threads, 0, q.stream>>>(c);
  } else if (kernel == "naive" || kernel == "tiled") {
    const index_t blocks = up(c.lines, tutorial_threads);
    check(blocks < (index_t(1) << 31), fault::usage, "gemv: more rows than the tutorial's kernels can have blocks for");
    const auto run = kernel == "naive" ? naive_kernel<T> : tiled_kernel<T>;
    run<<<static_cast<unsigned>(blocks), tutorial_threads, 0, q.stream>>>(c);
  } else if (c.f64_sums) {
    if constexpr (std::is_same_v<T, float>) launch<double>(c, q);
    else launch<vector_value<T>>(c, q);
  } else {
    launch<vector_value<T>>(c, q);
  }
  gpu::check(cudaGetLastError());
}

} // namespace furrow::dense
