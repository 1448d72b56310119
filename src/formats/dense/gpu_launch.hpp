// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "gpu_across.hpp"
#include "gpu_alone.hpp"
#include "gpu_along.hpp"
#include "gpu_cluster.hpp"
#include "gpu_few.hpp"
#include "gpu_flat.hpp"
#include "gpu_lines.hpp"
#include "gpu_packed.hpp"
#include "gpu_plan_across.hpp"
#include "gpu_plan_along.hpp"
#include "gpu_rows.hpp"
#include "gpu_staged.hpp"
#include "gpu_stream.hpp"
#include "gpu_strips.hpp"
#include "gpu_units.hpp"
#include "tutorial.hpp"

#include <utility>

namespace furrow::dense {

/// Room for `bytes` of partial sums and for most_counters counters, which are 0, on the selected GPU. Kept and grown.
/// Empty: the room is one of empty places (`gpu::take`), and no other kernels write there.
gpu_scratch<void> scratch_for(std::size_t bytes, bool empty);

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
template <class T> gpu_plan plan_of(const call<T>& c, const gpu::queue& q) {
  using V = vector_value<T>;
  constexpr int size = sizeof(T), value = sizeof(V);
  const bool a = !c.a_list && misalignment(c.a) == 0 && c.a_step % per_load<T> == 0;
  const bool x = !c.x_list && misalignment(c.x) == 0 && c.x_step % per_load<V> == 0 && c.x_stride == 1 &&
                 (c.count == 1 || c.x_next % per_load<V> == 0);
  const bool y = c.batch == 1 && !c.y_list && !c.a_list && !c.x_list && c.y_stride == 1 && misalignment(c.y) == 0;
  const gpu_shape device{q.multiprocessors, q.clusters, a, y, x};
  gpu_plan p = c.across ? plan_across(c.lines, c.length, c.leading, c.batch, size, c.count, device)
                        : plan_along(c.lines, c.length, c.leading, c.batch, size, value, c.count, device);
  p.y_stays = c.outputs() * c.batch * value <= index_t(q.cache_bytes) / 3 * 2;
  return p;
}

template <class T, class S, int Rhs> class launcher {
public:
  launcher(const call<T>& c, const gpu::queue& q) : c_(c), q_(q), p_(plan_of(c, q)) {
    // The sums of a piece: those of a tile of every vector that the kernel counts with.
    const bool through_memory = p_.pieces > 1 && p_.kind != gpu_kind::cluster;
    const index_t sums = through_memory ? c.batch * p_.tiles * p_.pieces * p_.outputs * Rhs : 0;
    const auto scratch = scratch_for(checked_bytes(sums, sizeof(S)), p_.kind == gpu_kind::stream);
    scratch_ = {static_cast<S*>(scratch.partial), scratch.arrived};
  }

  void run() const {
    if (p_.kind == gpu_kind::flat) return enqueue(flat());
    if (p_.kind == gpu_kind::across && p_.whole) return enqueue(across<true>());
    if (p_.kind == gpu_kind::across) return enqueue(across<false>());
    if constexpr (Rhs == 1)
      if (const auto kernel = for_one_vector()) return enqueue(kernel);
    if (p_.kind == gpu_kind::staged) return enqueue(staged_kernel<T, S, Rhs>);
    constexpr int rows = Rhs > 4 ? 2 : 4, unroll = Rhs > 2 ? 1 : 2;
    if (p_.lanes == 8) return enqueue(along_kernel<T, S, Rhs, 8, rows, unroll>);
    if (p_.lanes == 32) return enqueue(along_kernel<T, S, Rhs, 32, rows, unroll>);
    enqueue(along_kernel<T, S, Rhs, 256, rows, unroll>);
  }

private:
  using kernel = void (*)(call<T>, gpu_plan, gpu_scratch<S>);

  template <bool Whole> kernel across() const {
    return p_.outputs == gpu_threads * per_load<T> ? across_kernel<T, S, Rhs, 1, Whole>
                                                   : across_kernel<T, S, Rhs, 8, Whole>;
  }

  /// Null where it is as for several vectors.
  kernel for_one_vector() const {
    switch (p_.kind) {
    case gpu_kind::few:
      if constexpr (sizeof(T) > 2)
        if (p_.whole) return pair_kernel<T, S>;
      return p_.rows == 2 ? few_kernel<T, S, 2> : p_.rows == 4 ? few_kernel<T, S, 4> : few_kernel<T, S, 8>;
    case gpu_kind::cluster:
      if (p_.pieces == 1) return p_.lanes == 4 ? cluster_kernel<T, S, 4, 1> : cluster_kernel<T, S, 8, 1>;
      return p_.lanes == 16 ? cluster_kernel<T, S, 16, cluster_blocks> : cluster_kernel<T, S, 32, cluster_blocks>;
    case gpu_kind::alone:
      if constexpr (sizeof(T) <= 4) return p_.lanes == 8 ? alone_kernel<T, S, 8> : alone_kernel<T, S, 16>;
    case gpu_kind::stream:
      return stream_kernel<T, S>;
    case gpu_kind::lines:
      return lines(std::make_integer_sequence<int, most_lines>{});
    case gpu_kind::strips:
      if constexpr (sizeof(T) == 2) return strips_kernel<T, S>;
    case gpu_kind::packed:
      return packed();
    case gpu_kind::units:
      return units_kernel<T, S>;
    case gpu_kind::rows:
      if (p_.lanes == 2) return rows_kernel<T, S, 2, 4, 1>;
      if (p_.lanes == 4) return rows_kernel<T, S, 4, 4, 1>;
      if (p_.lanes == 8) return rows_kernel<T, S, 8, 4, 2>;
      if (p_.lanes == 16) return rows_kernel<T, S, 16, 4, 2>;
      if constexpr (sizeof(T) == 2)
        if (p_.rows == 4) return rows_kernel<T, S, 32, 4, 4>;
      return rows_kernel<T, S, 32, 2, 4>;
    default:
      if (p_.kind != gpu_kind::along || p_.rows == 4) return nullptr;
      if (p_.rows == 1) return along_kernel<T, S, 1, 256, 1, 4>;
      return along_kernel < T, S, 1, 256, 2, per_load<T> == 8 ? 2 : 4 > ;
    }
  }

  template <int... R> kernel lines(std::integer_sequence<int, R...>) const {
    static constexpr kernel all[] = {lines_kernel<T, S, R + 1>...};
    return all[p_.rows - 1];
  }

  kernel flat() const {
    if constexpr (per_load<T> >= 8)
      if (p_.holds == 8) return flat_kernel<T, S, Rhs, 8>;
    if constexpr (per_load<T> >= 4)
      if (p_.holds == 4) return flat_kernel<T, S, Rhs, 4>;
    if (p_.holds == 2) return flat_kernel<T, S, Rhs, 2>;
    if (p_.holds == 1) return flat_kernel<T, S, Rhs, 1>;
    return p_.holds == 0 ? flat_kernel<T, S, Rhs, 0> : flat_kernel<T, S, Rhs, -1>;
  }

  template <int L> kernel packed() const { return p_.whole ? packed_whole_kernel<T, S, L> : packed_kernel<T, S, L>; }

  kernel packed() const {
    if constexpr (per_load<T> >= 8)
      if (c_.length == 8) return packed<8>();
    if constexpr (per_load<T> >= 4)
      if (c_.length == 4) return packed<4>();
    return c_.length == 2 ? packed<2>() : packed<1>();
  }

  dim3 grid() const {
    if (p_.kind != gpu_kind::across && p_.kind != gpu_kind::flat) return p_.blocks;
    require(p_.tiles < index_t(1) << 31 && p_.pieces < 1 << 16, "gemv: a side of the grid is too long");
    return dim3(unsigned(p_.tiles), unsigned(p_.pieces), unsigned(std::min<index_t>(c_.batch, 65535)));
  }

  void enqueue(kernel k) const {
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {cluster_blocks, 1, 1};
    cudaLaunchConfig_t launch{};
    launch.gridDim = grid();
    launch.blockDim = p_.kind == gpu_kind::cluster  ? cluster_threads(int(p_.pieces))
                      : p_.kind == gpu_kind::alone  ? alone_threads
                      : p_.kind == gpu_kind::stream ? stream_threads
                                                    : gpu_threads;
    launch.dynamicSmemBytes = p_.kind == gpu_kind::units ? units_room<T, S>(p_) : 0;
    launch.stream = q_.stream;
    launch.attrs = &cluster;
    launch.numAttrs = p_.kind == gpu_kind::cluster && p_.pieces > 1 ? 1 : 0;
    gpu::check(cudaLaunchKernelEx(&launch, k, c_, p_, scratch_));
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
  } else if (const auto name = kernel_name(kernel); name == "naive" || name == "tiled") {
    const int asked = read_kernel_numbers(kernel).block, threads = asked ? asked : tutorial_threads;
    const index_t blocks = up(c.lines, threads);
    check(blocks < (index_t(1) << 31), fault::usage, "gemv: more rows than the tutorial's kernels can have blocks for");
    const auto run = name == "naive" ? naive_kernel<T> : tiled_in_blocks<T>(threads);
    run<<<static_cast<unsigned>(blocks), threads, 0, q.stream>>>(c);
  } else if (c.f64_sums) {
    if constexpr (std::is_same_v<T, float>) launch<double>(c, q);
    else launch<vector_value<T>>(c, q);
  } else {
    launch<vector_value<T>>(c, q);
  }
  gpu::check(cudaGetLastError());
}

} // namespace furrow::dense
