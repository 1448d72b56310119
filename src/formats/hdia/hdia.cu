// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"

#include "formats/sell/slice_kernel.hpp"

namespace furrow::hdia_format {
namespace {

template <bool Split, class V, int N>
__global__ void __launch_bounds__(slice_threads, 4)
    hdia_kernel(hdia<V, cview> a, int sharing, V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) {
  gpu::multiply_slices<Split>(a, sharing, alpha, x, beta, y, ending,
                              [&](lanes lane, index_t row) { return partial(lane, a, row, x); });
}

template <class V> class hdia_on_gpu final : public gpu::one_pass_operator<hdia_on_gpu<V>, V, hdia<V, gpu_array>> {
  using base = gpu::one_pass_operator<hdia_on_gpu<V>, V, hdia<V, gpu_array>>;
  friend base;
  using base::matrix_;

public:
  hdia_on_gpu(const hdia<V, host_array>& a, std::string_view kernel) : base(upload(a)) {
    const index_t slices = a.strip_ptr.size() - 1;
    index_t widest = 0, all = 0;
    for (index_t s = 0; s < slices; ++s) {
      const index_t beside = (a.rest.slice_ptr[s + 1] - a.rest.slice_ptr[s]) / strip_height;
      const index_t width = a.strip_ptr[s + 1] - a.strip_ptr[s] + beside;
      widest = std::max(widest, width);
      all += width;
    }
    const double mean = slices ? double(all) / double(slices) : 0;
    sharing_ = gpu::sharing_for(kernel == "strips" ? "slices" : kernel, a.shape.rows, mean, widest);
  }

  std::string kernel() const override { return sharing_ > 1 ? "split" : "strips"; }

private:
  template <int N> void launch(V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) const {
    const gpu::queue& q = gpu::current_queue();
    const auto kernel = sharing_ > 1 ? hdia_kernel<true, V, N> : hdia_kernel<false, V, N>;
    const unsigned blocks = gpu::slice_blocks<N>(matrix_.shape.rows, sharing_, q);
    gpu::launch(kernel, blocks, slice_threads, 0, q, view_of(matrix_), sharing_, alpha, x, beta, y, ending);
  }

  int sharing_ = 1; ///< threads a row
};

} // namespace

template <class V> std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view, std::string_view kernel) {
  auto matrix = to_hdia(std::move(a));
  a = {}; // the copy on its way to the GPU is the second one
  return std::make_unique<hdia_on_gpu<V>>(matrix, kernel);
}

template std::unique_ptr<any_operator<double>> make_gpu(coo<double>, std::string_view, std::string_view);
template std::unique_ptr<any_operator<float>> make_gpu(coo<float>, std::string_view, std::string_view);

} // namespace furrow::hdia_format
