// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "gpu_convert.hpp"
#include "march.hpp"
#include "several_kernel.hpp"
#include "table_kernel.hpp"

#include "backends/gpu/operator.hpp"

#include <furrow/formats.hpp>

#include <limits>
#include <optional>

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
  stencil_on_gpu(stencil<V, N, gpu_array> a, const std::optional<stencil_planes<V>>& planes) : base(std::move(a)) {
    if (planes) march_.emplace(*planes, matrix_.shape, gpu::current_queue().multiprocessors);
    if (planes)
      for (int n = 0; n < stencil_planes<V>::most_stencils; ++n)
        told_.bits[n / 32] |= std::uint32_t(planes->is_told_by_bits(n)) << (n % 32);
  }

  std::string kernel() const override { return "table"; }

protected:
  bool multiply_several(cview<V> x, view<V> y, index_t count) const override {
    const auto a = view_of(matrix_);
    if constexpr (sizeof(N) == 1)
      if (march_ && march_->gains(count) && march_->multiply(a.number, x, y, count))
        return gpu::multiply_several_stencils(a, told_, march_->planes().all_told, x, y, count);
    return gpu::multiply_several_stencils(a, gpu::no_stencils{}, false, x, y, count);
  }

private:
  template <int K> void launch(V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, K> ending) const {
    const gpu::queue& q = gpu::current_queue();
    const auto a = view_of(matrix_);
    using shape = gpu::table_shape;
    const unsigned beside = blocks_beside(a.rest_row.size, shape::threads, q);
    const unsigned tiles = gpu::blocks_for((a.shape.rows + shape::tile - 1) / shape::tile, 1, q, shape::blocks);
    gpu::launch(gpu::table_kernel<V, N, K>, beside + tiles, shape::threads, gpu::table_bytes(matrix_), q, a, beside,
                alpha, x, beta, y, ending);
  }

  std::optional<gpu::stencil_march<V>> march_; ///< where rows lie in planes
  gpu::marked_stencils told_;                  ///< that it takes
};

/// Rows of a plane from which on blocks march through planes.
constexpr index_t least_plane = 64;

template <class N, class V, class Seen>
std::optional<stencil_planes<V>> planes_of(const host_stencil_table<V>& table, const Seen& seen, index_t rows) {
  if (sizeof(N) > 1 || seen.empty() || rows > std::numeric_limits<std::int32_t>::max() / 2) return std::nullopt;
  std::vector<index_t> uses;
  for (const seen_stencil& s : seen) uses.push_back(s.uses);
  return find_planes(table, uses, rows, least_plane);
}

template <class N, class V> std::unique_ptr<any_operator<V>> wrap(coo<V> a, const stencil_plan& plan) {
  auto matrix = to_stencil<N>(a, plan);
  a = {}; // the copy on its way to the GPU is the second one
  const auto planes =
      planes_of<N>(host_stencil_table<V>{matrix.start, matrix.offset, matrix.val}, plan.table, matrix.shape.rows);
  return std::make_unique<stencil_on_gpu<V, N>>(upload(matrix), planes);
}
template <class N, class V>
std::unique_ptr<any_operator<V>> wrap(const rows_on_gpu<V>& a, const gpu_stencil_plan& plan) {
  host_stencil_table<V> table;
  auto matrix = to_stencil<N>(a, plan, sizeof(N) == 1 ? &table : nullptr);
  const auto planes = planes_of<N>(table, plan.table, a.shape.rows);
  return std::make_unique<stencil_on_gpu<V, N>>(std::move(matrix), planes);
}

} // namespace

template <class V> std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view, std::string_view) {
  const auto plan = plan_stencils(a);
  return plan.fits_bytes() ? wrap<std::uint8_t>(std::move(a), plan) : wrap<std::uint16_t>(std::move(a), plan);
}

template <class V>
std::unique_ptr<any_operator<V>> from_rows(const rows_on_gpu<V>& a, const stats&, std::string_view parameters,
                                           std::string_view kernel) {
  const auto plan = plan_stencils(a);
  if (!plan) return make_gpu(bring_home(a), parameters, kernel);
  return plan->fits_bytes() ? wrap<std::uint8_t>(a, *plan) : wrap<std::uint16_t>(a, *plan);
}

template std::unique_ptr<any_operator<double>> from_rows(const rows_on_gpu<double>&, const stats&, std::string_view,
                                                         std::string_view);
template std::unique_ptr<any_operator<float>> from_rows(const rows_on_gpu<float>&, const stats&, std::string_view,
                                                        std::string_view);
template std::unique_ptr<any_operator<double>> make_gpu(coo<double>, std::string_view, std::string_view);
template std::unique_ptr<any_operator<float>> make_gpu(coo<float>, std::string_view, std::string_view);

} // namespace furrow::stencil_format
