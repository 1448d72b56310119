// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "gpu_convert.hpp"
#include "product.hpp"

#include "backends/gpu/operator.hpp"

#include <furrow/formats.hpp>

namespace furrow::ell_format {
namespace {

template <class V> class ell_on_gpu final : public gpu::one_pass_operator<ell_on_gpu<V>, V, ell<V, gpu_array>> {
  using base = gpu::one_pass_operator<ell_on_gpu<V>, V, ell<V, gpu_array>>;
  friend base;
  using base::matrix_;

public:
  ell_on_gpu(ell<V, gpu_array> a, std::string_view kernel) : base(std::move(a)), product_(matrix_.shape, kernel) {}

  std::string kernel() const override { return product_.kernel(); }

private:
  template <int N> void launch(V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) const {
    product_(view_of(matrix_), alpha, x, beta, y, ending);
  }

  ell_product product_;
};

} // namespace

template <class V> std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view, std::string_view kernel) {
  auto matrix = to_ell(std::move(a));
  a = {}; // the copy on its way to the GPU is the second one
  return std::make_unique<ell_on_gpu<V>>(upload(matrix), kernel);
}

template <class V>
std::unique_ptr<any_operator<V>> from_rows(const rows_on_gpu<V>& a, const stats& s, std::string_view,
                                           std::string_view kernel) {
  auto made = std::make_unique<ell_on_gpu<V>>(to_ell(a, s.row_max), kernel);
  gpu::wait(gpu::current_queue());
  return made;
}

template std::unique_ptr<any_operator<double>> from_rows(const rows_on_gpu<double>&, const stats&, std::string_view,
                                                         std::string_view);
template std::unique_ptr<any_operator<float>> from_rows(const rows_on_gpu<float>&, const stats&, std::string_view,
                                                        std::string_view);
template std::unique_ptr<any_operator<double>> make_gpu(coo<double>, std::string_view, std::string_view);
template std::unique_ptr<any_operator<float>> make_gpu(coo<float>, std::string_view, std::string_view);

} // namespace furrow::ell_format
