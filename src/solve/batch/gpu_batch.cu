// SPDX-License-Identifier: BSD-3-Clause
#include "engine.hpp"
#include "small_system.hpp"

#include "backends/gpu/launch.hpp"
#include "backends/gpu/occupancy.hpp"
#include "backends/gpu/reduce.hpp"

#include <algorithm>

namespace furrow::small_systems {
namespace {

constexpr int most_threads = 512, most_warps = most_threads / gpu::warp;

/// The threads of a block. Sums go from the lanes of a warp, by halves, to a place a warp, which every lane adds up in
/// their order; two sets of places by turns, so that a sum takes one sync.
class block_team {
public:
  int rank = static_cast<int>(threadIdx.x), size = static_cast<int>(blockDim.x);

  __device__ explicit block_team(double2* places) : places_(places) {}
  __device__ void sync() const { __syncthreads(); }
  __device__ void sum(double& a, double& b) {
    a = gpu::sum_lanes<gpu::warp>(a), b = gpu::sum_lanes<gpu::warp>(b);
    double2* const mine = places_ + turn_ * most_warps;
    turn_ ^= 1;
    if (rank % gpu::warp == 0) mine[rank / gpu::warp] = {a, b};
    __syncthreads();
    a = b = 0;
    for (int w = 0; w < size / gpu::warp; ++w) a += mine[w].x, b += mine[w].y;
  }
  __device__ double sum(double a) {
    double none = 0;
    sum(a, none);
    return a;
  }
  template <class T> __device__ T add_lanes(T value, int lanes) const {
    for (int apart = lanes / 2; apart > 0; apart /= 2) value += gpu::from_lane_across<gpu::warp>(value, apart);
    return value;
  }

private:
  double2* places_;
  int turn_ = 0;
};

/// A block a system, for at most `w.steps` steps. What it takes of the device: docs/batch.md.
template <class V, method M, bool inside>
__global__ void __launch_bounds__(most_threads, 2) small_systems_kernel(const __grid_constant__ work<V> w) {
  gpu::take_turn();
  extern __shared__ __align__(16) unsigned char room[];
  __shared__ board shared;
  __shared__ double2 places[2 * most_warps];
  small_system<V, M, inside, block_team>(block_team(places), shared, room, w, static_cast<int>(blockIdx.x)).run();
}

/// Bytes of shared memory that the kernel has for itself, at most.
constexpr int own_bytes = 1536;
static_assert(sizeof(board) + 2 * most_warps * sizeof(double2) <= own_bytes);

template <class V> using kernel_type = void (*)(work<V>);
template <class V> kernel_type<V> kernel_for(const launch_shape& s) {
  if (s.by == method::cg)
    return s.inside ? small_systems_kernel<V, method::cg, true> : small_systems_kernel<V, method::cg, false>;
  return s.inside ? small_systems_kernel<V, method::bicgstab, true> : small_systems_kernel<V, method::bicgstab, false>;
}

template <class T> gpu_array<T> there(const host_array<T>& a) { return gpu_array<T>(a); }

template <class V> class gpu_engine final : public engine<V> {
public:
  explicit gpu_engine(device where) : where_(where), chip_(chip_of(where)) {}

  void take(const packed_systems<V>& systems) override {
    about_ = there(systems.about), row_ptr_ = there(systems.row_ptr), col_ = there(systems.col);
    val_ = there(systems.val), b_ = there(systems.b), first_ = there(systems.first), d_ = there(systems.d);
    const index_t n = systems.b.size();
    for (auto* const v : {&x_, &r_, &p_, &shadow_, &best_}) *v = gpu_array<V>(n);
    states_ = gpu_array<state>(host_array<state>(systems.about.size(), state{}));
  }

  index_t resident(const launch_shape& shape) override {
    const auto kernel = allowed(shape);
    return index_t(gpu::resident_blocks(kernel, shape.threads, shape.bytes)) * chip_.multiprocessors;
  }

  void advance(const launch_shape& shape, cview<std::int32_t> active, int steps, bool stop, view<state> news,
               view<record> records) override {
    const index_t count = active.size;
    if (active_.size() < count) active_ = gpu_array<std::int32_t>(count), news_ = gpu_array<state>(count);
    if (records_.size() < count * steps) records_ = gpu_array<record>(count * steps);
    copy_bytes(gpu_memory{}, active_.data(), host_memory{}, active.data, static_cast<std::size_t>(count) * 4);
    const work<V> w{{about_.data(), row_ptr_.data(), col_.data(), val_.data(), b_.data(), first_.data(), d_.data(),
                     x_.data(), r_.data(), p_.data(), shadow_.data(), best_.data(), states_.data()},
                    active_.data(),
                    news_.data(),
                    records_.data(),
                    static_cast<std::int32_t>(count),
                    steps,
                    stop};
    gpu::launch(allowed(shape), static_cast<unsigned>(count), shape.threads, shape.bytes, gpu::current_queue(), w);
    copy_bytes(host_memory{}, news.data, gpu_memory{}, news_.data(), static_cast<std::size_t>(count) * sizeof(state));
    index_t most = 0;
    for (const state& s : news) most = std::max<index_t>(most, s.recorded);
    copy_bytes(host_memory{}, records.data, gpu_memory{}, records_.data(),
               static_cast<std::size_t>(most * count) * sizeof(record));
  }

  void answers(view<V> x) override {
    copy_bytes(host_memory{}, x.data, gpu_memory{}, x_.data(), static_cast<std::size_t>(x.size) * sizeof(V));
  }

private:
  kernel_type<V> allowed(const launch_shape& shape) const {
    const auto kernel = kernel_for<V>(shape);
    gpu::allow_shared_memory(kernel, chip_.block_bytes);
    return kernel;
  }

  device where_;
  chip chip_;
  gpu_array<facts> about_;
  gpu_array<std::int32_t> row_ptr_, active_;
  gpu_array<std::uint16_t> col_;
  gpu_array<V> val_, b_, first_, d_, x_, r_, p_, shadow_, best_;
  gpu_array<state> states_, news_;
  gpu_array<record> records_;
};

} // namespace

chip chip_of(device where) {
  if (!where.is_gpu()) return {};
  const gpu::selected_device here(where.ordinal);
  const gpu::queue& q = gpu::current_queue();
  const gpu::shared_memory m = gpu::shared_memory_of(q);
  return {q.multiprocessors, m.of_a_block - own_bytes, m.of_a_multiprocessor};
}

template <class V> std::unique_ptr<engine<V>> make_engine(device where) {
  return std::make_unique<gpu_engine<V>>(where);
}
template std::unique_ptr<engine<double>> make_engine(device);
template std::unique_ptr<engine<float>> make_engine(device);

} // namespace furrow::small_systems
