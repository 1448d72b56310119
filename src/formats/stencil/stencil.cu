// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "march_kernel.hpp"

#include "backends/gpu/occupancy.hpp"
#include "backends/gpu/operator.hpp"

#include <furrow/formats.hpp>

namespace furrow::stencil_format {
namespace {

/// Blocks for the rows beside the table: with those for the others no more than there is room for partial sums.
unsigned blocks_beside(index_t rows, int threads, const gpu::queue& q) {
  return rows ? gpu::blocks_for(8 * rows, threads, q, gpu::blocks_per_multiprocessor / 2) : 0;
}

template <class V, class N>
class stencil_on_gpu final : public gpu::one_pass_operator<stencil_on_gpu<V, N>, V, stencil<V, N, gpu_array>> {
  using base = gpu::one_pass_operator<stencil_on_gpu<V, N>, V, stencil<V, N, gpu_array>>;
  friend base;
  using base::matrix_;

public:
  stencil_on_gpu(const stencil<V, N, host_array>& a, std::string_view kernel) : base(upload(a)), kernel_(kernel) {
    if (kernel_ == "table") return;
    const march_plan plan = plan_march(a, gpu::march_shape::tile);
    if (kernel_ == "auto") kernel_ = march_pays(plan, a.shape.rows) ? "march" : "table";
    if (kernel_ == "march") prepare_march(plan);
  }

  std::string kernel() const override { return kernel_; }

private:
  /// Below half a million rows a block has few planes to march through.
  static bool march_pays(const march_plan& plan, index_t rows) {
    return plan.rows_far < 0.02 && rows >= 1 << 19 && 8 * plan.planes.halo <= gpu::march_shape::tile &&
           plan.planes.period >= gpu::march_shape::tile / 2;
  }

  void prepare_march(const march_plan& plan) {
    using shape = gpu::march_shape;
    part_ = gpu_array<std::int32_t>(plan.part);
    away_ = gpu_array<std::int32_t>(plan.away);
    march_.period = plan.planes.period;
    march_.halo = static_cast<int>(plan.planes.halo);
    march_.stride = gpu::window_stride<V>(plan.planes.halo);
    const gpu::queue& q = gpu::current_queue();
    const gpu::shared_memory there = gpu::shared_memory_of(q);
    const auto bytes = [&](int depth) {
      return gpu::march_bytes<V>(depth, march_.stride, plan.away.size(), plan.part.size());
    };
    march_.depth = shape::most; // as many windows as leave room for a second block
    while (march_.depth > shape::fewest && shape::blocks * (bytes(march_.depth) + 2048) > there.of_a_multiprocessor)
      --march_.depth;
    shared_ = bytes(march_.depth);
    const int most = there.of_a_block - 1024; // the kernels take some without asking, the system keeps some for itself
    furrow::check(shared_ <= most, fault::device,
                  "kernel march needs more shared memory than a block of this GPU has: choose kernel table");
    // For all operators of this process: another one may need more.
    gpu::allow_shared_memory(gpu::march_kernel<V, N, 0>, most);
    gpu::allow_shared_memory(gpu::march_kernel<V, N, 1>, most);
    const int resident = gpu::resident_blocks(gpu::march_kernel<V, N, 1>, shape::threads, shared_);
    march_.cut = cut_planes(matrix_.shape.rows, march_.period, shape::tile, index_t(resident) * q.multiprocessors);
  }

  template <int K> void launch(V alpha, cview<V> x, V beta, view<V> y, gpu::sum_target<K> xy) const {
    const gpu::queue& q = gpu::current_queue();
    const auto a = view_of(matrix_);
    if (kernel_ == "march") {
      using shape = gpu::march_shape;
      gpu::march_view m = march_;
      m.part = as_cview(part_);
      m.away = as_cview(away_);
      const unsigned beside = blocks_beside(a.rest_row.size, shape::threads, q);
      const unsigned units = gpu::blocks_for(m.cut.units(), 1, q, gpu::blocks_per_multiprocessor / 2);
      return gpu::launch(gpu::march_kernel<V, N, K>, beside + units, shape::threads, shared_, q, a, m, beside, alpha, x,
                         beta, y, xy);
    }
    using shape = gpu::table_shape;
    const unsigned beside = blocks_beside(a.rest_row.size, shape::threads, q);
    const unsigned tiles = gpu::blocks_for((a.shape.rows + shape::tile - 1) / shape::tile, 1, q, shape::blocks);
    gpu::launch(gpu::table_kernel<V, N, K>, beside + tiles, shape::threads, gpu::table_bytes(matrix_), q, a, beside,
                alpha, x, beta, y, xy);
  }

  std::string kernel_;
  gpu_array<std::int32_t> part_, away_; ///< of the march kernel, as the following
  gpu::march_view march_{};
  int shared_ = 0; ///< bytes
};

template <class N, class V>
std::unique_ptr<any_operator<V>> wrap(coo<V> a, const stencil_plan& plan, std::string_view kernel) {
  auto matrix = to_stencil<N>(a, plan);
  a = {}; // the copy on its way to the GPU is the second one
  return std::make_unique<stencil_on_gpu<V, N>>(matrix, kernel);
}

} // namespace

template <class V> std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view, std::string_view kernel) {
  const auto plan = plan_stencils(a);
  return plan.fits_bytes() ? wrap<std::uint8_t>(std::move(a), plan, kernel)
                           : wrap<std::uint16_t>(std::move(a), plan, kernel);
}

template std::unique_ptr<any_operator<double>> make_gpu(coo<double>, std::string_view, std::string_view);
template std::unique_ptr<any_operator<float>> make_gpu(coo<float>, std::string_view, std::string_view);

} // namespace furrow::stencil_format
