// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "gpu_convert.hpp"
#include "slice_kernel.hpp"

namespace furrow::sell_format {
namespace {

/// Height: that of the matrix, where it is the usual one; 0 otherwise.
template <bool Split, int Height, class V, int N>
__global__ void __launch_bounds__(slice_threads, 4)
    sell_kernel(sell<V, cview> a, int sharing, V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) {
  gpu::multiply_slices<Split>(a, sharing, alpha, x, beta, y, ending,
                              [&](lanes lane, index_t position) { return partial<Height>(lane, a, position, x); });
}

template <class V> class sell_on_gpu final : public gpu::one_pass_operator<sell_on_gpu<V>, V, sell<V, gpu_array>> {
  using base = gpu::one_pass_operator<sell_on_gpu<V>, V, sell<V, gpu_array>>;
  friend base;
  using base::matrix_;

public:
  /// widest: slice.
  sell_on_gpu(sell<V, gpu_array> matrix, index_t widest, std::string_view kernel) : base(std::move(matrix)) {
    const auto& a = matrix_;
    const index_t slices = a.slice_ptr.size() - 1;
    const double mean = slices ? double(a.val.size()) / double(slices * a.height) : 0;
    sharing_ = gpu::sharing_for(kernel, a.shape.rows, mean, widest);
  }

  std::string kernel() const override { return sharing_ > 1 ? "split" : "slices"; }

private:
  template <int N> void launch(V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) const {
    if (matrix_.height == usual_height) start<usual_height>(alpha, x, beta, y, ending);
    else start<0>(alpha, x, beta, y, ending);
  }

  template <int Height, int N> void start(V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) const {
    const gpu::queue& q = gpu::current_queue();
    const auto kernel = sharing_ > 1 ? sell_kernel<true, Height, V, N> : sell_kernel<false, Height, V, N>;
    const unsigned blocks = gpu::slice_blocks<N>(matrix_.shape.rows, sharing_, q);
    gpu::launch(kernel, blocks, slice_threads, 0, q, view_of(matrix_), sharing_, alpha, x, beta, y, ending);
  }

  int sharing_ = 1; ///< threads a row
};

} // namespace

template <class V>
std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view kernel) {
  const auto home = to_sell(std::move(a), parameters);
  index_t widest = 0;
  for (index_t s = 0; s + 1 < home.slice_ptr.size(); ++s)
    widest = std::max(widest, (home.slice_ptr[s + 1] - home.slice_ptr[s]) / home.height);
  return std::make_unique<sell_on_gpu<V>>(upload(home), widest, kernel);
}

template <class V>
std::unique_ptr<any_operator<V>> from_rows(const rows_on_gpu<V>& a, const stats& s, std::string_view parameters,
                                           std::string_view kernel) {
  slicing how = read_parameters(parameters);
  if (how.window == 0) how = best_slicing(s, how.height, sizeof(V) + sizeof(std::int32_t));
  auto made = std::make_unique<sell_on_gpu<V>>(to_sell(a, s.row_max, how, counted_places(s, how)), s.row_max, kernel);
  gpu::wait(gpu::current_queue());
  return made;
}

template std::unique_ptr<any_operator<double>> from_rows(const rows_on_gpu<double>&, const stats&, std::string_view,
                                                         std::string_view);
template std::unique_ptr<any_operator<float>> from_rows(const rows_on_gpu<float>&, const stats&, std::string_view,
                                                        std::string_view);
template std::unique_ptr<any_operator<double>> make_gpu(coo<double>, std::string_view, std::string_view);
template std::unique_ptr<any_operator<float>> make_gpu(coo<float>, std::string_view, std::string_view);

} // namespace furrow::sell_format
