// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"

#include "backends/gpu/operator.hpp"

#include <furrow/formats.hpp>
#include <furrow/gemv.hpp>

namespace furrow::dense_format {
namespace {

template <class V> class dense_on_gpu final : public gpu::stored_operator<V, dense_matrix<V, gpu_array>> {
  using base = gpu::stored_operator<V, dense_matrix<V, gpu_array>>;
  using base::matrix_;

public:
  dense_on_gpu(const dense_matrix<V, host_array>& a, std::string_view kernel)
      : base(upload(a)), kernel_(kernel == "auto" ? "along" : kernel) {
    // A first product takes the scratch memory that it needs: later ones may be recorded into a graph.
    const gpu_array<V> x(a.shape.cols);
    gpu_array<V> y(a.shape.rows);
    if (!y.empty()) multiply(V(1), as_cview(x), V(0), as_view(y));
  }

  std::string kernel() const override { return kernel_; }

  /// x . y is a pass of its own: over two vectors, where the matrix is one of n.
  void do_apply_dot(cview<V> x, view<V> y, slot xy) const override {
    const gpu::selected_device here(this->where().ordinal);
    if (!y.empty()) multiply(V(1), x, V(0), y);
    gpu::space<V>{}.dot(x, y, xy);
  }

private:
  void multiply(V alpha, cview<V> x, V beta, view<V> y) const override {
    gemv_options options;
    options.where.what = device::kind::gpu;
    if (kernel_ != "along") options.kernel = kernel_;
    gemv(alpha, dense_view<V>{matrix_.val.data(), matrix_.shape, matrix_.shape.cols}, x, beta, y, options);
  }

  std::string kernel_;
};

} // namespace

template <class V> std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view, std::string_view kernel) {
  return std::make_unique<dense_on_gpu<V>>(to_dense(a), kernel);
}

template std::unique_ptr<any_operator<double>> make_gpu(coo<double>, std::string_view, std::string_view);
template std::unique_ptr<any_operator<float>> make_gpu(coo<float>, std::string_view, std::string_view);

} // namespace furrow::dense_format
