// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "gpu_convert.hpp"

#include "backends/gpu/operator.hpp"
#include "backends/row_tiles.hpp"

#include <furrow/formats.hpp>

namespace furrow::dia_format {
namespace {

constexpr int threads = 256, offsets_at_once = 1024;

/// y <- alpha A x + beta y, a thread a row; the block reads the offsets once, into shared memory, 1024 at a time (Bell
/// and Garland 2008, section 4.1). x . y in the same pass where `xy` has a slot. Blocks stride over the rows together.
template <class V, int N>
__global__ void __launch_bounds__(threads)
    diagonals_kernel(dia<V, cview> a, V alpha, cview<V> x, V beta, view<V> y, gpu::sum_target<N> xy) {
  __shared__ std::int32_t offset[offsets_at_once];
  double dot[1] = {};
  gpu::take_turn();
  const index_t diagonals = a.offset.size;
  for (index_t first = index_t(blockIdx.x) * threads; first < a.shape.rows; first += index_t(gridDim.x) * threads) {
    const index_t row = first + threadIdx.x;
    V sum{};
    for (index_t base = 0; base < diagonals; base += offsets_at_once) {
      const int count = static_cast<int>(diagonals - base < offsets_at_once ? diagonals - base : offsets_at_once);
      __syncthreads();
      for (int k = threadIdx.x; k < count; k += threads) offset[k] = a.offset[base + k];
      __syncthreads();
      if (row >= a.shape.rows) continue;
      for (int k = 0; k < count; ++k) {
        const index_t col = row + offset[k];
        if (col >= 0 && col < a.shape.cols) sum += a.val[(base + k) * a.stride + row] * x[col];
      }
    }
    if (row >= a.shape.rows) continue;
    store(alpha, sum, beta, y[row]);
    if constexpr (N > 0) dot[0] += double(x[row]) * double(y[row]);
  }
  gpu::finish<threads, N>(dot, xy);
}

/// Rows that a thread of the `tiles` kernel takes.
template <class V> constexpr int rows_a_thread = sizeof(V) == 8 ? 1 : 4;

template <class V> class dia_on_gpu final : public gpu::one_pass_operator<dia_on_gpu<V>, V, dia<V, gpu_array>> {
  using base = gpu::one_pass_operator<dia_on_gpu<V>, V, dia<V, gpu_array>>;
  friend base;
  using base::matrix_;

public:
  dia_on_gpu(dia<V, gpu_array> a, std::string_view kernel) : base(std::move(a)), kernel_(kernel) {
    if (kernel_ == "auto")
      kernel_ = gpu::tiles_fill<rows_a_thread<V>>(matrix_.shape.rows, gpu::current_queue()) ? "tiles" : "rows";
  }

  std::string kernel() const override { return kernel_; }

private:
  template <int N> void launch(V alpha, cview<V> x, V beta, view<V> y, gpu::sum_target<N> xy) const {
    const auto a = view_of(matrix_);
    if (kernel_ == "tiles") return gpu::launch_tiles<rows_a_thread<V>>(a, alpha, x, beta, y, xy);
    gpu::queue& q = gpu::current_queue();
    gpu::launch(diagonals_kernel<V, N>, gpu::blocks_for(a.shape.rows, threads, q), threads, 0, q, a, alpha, x, beta, y,
                xy);
  }

  std::string kernel_;
};

} // namespace

template <class V> std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view, std::string_view kernel) {
  auto matrix = to_dia(a);
  a = {}; // the copy on its way to the GPU is the second one
  return std::make_unique<dia_on_gpu<V>>(upload(matrix), kernel);
}

template <class V>
std::unique_ptr<any_operator<V>> from_rows(const rows_on_gpu<V>& a, const stats& s, std::string_view,
                                           std::string_view kernel) {
  auto made = std::make_unique<dia_on_gpu<V>>(to_dia(a, s.diagonals), kernel);
  gpu::wait(gpu::current_queue());
  return made;
}

template std::unique_ptr<any_operator<double>> from_rows(const rows_on_gpu<double>&, const stats&, std::string_view,
                                                         std::string_view);
template std::unique_ptr<any_operator<float>> from_rows(const rows_on_gpu<float>&, const stats&, std::string_view,
                                                        std::string_view);
template std::unique_ptr<any_operator<double>> make_gpu(coo<double>, std::string_view, std::string_view);
template std::unique_ptr<any_operator<float>> make_gpu(coo<float>, std::string_view, std::string_view);

} // namespace furrow::dia_format
