// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "rule.hpp"

#include "backends/gpu/operator.hpp"
#include "formats/coo/segmented.hpp"
#include "formats/ell/product.hpp"

#include <furrow/formats.hpp>

namespace furrow::hyb_format {
namespace {

/// y <- alpha E x + beta y by a kernel of ell, then y += alpha R x by the segmented reduction of coo.
template <class V> class hyb_on_gpu final : public gpu::stored_operator<V, hyb<V, gpu_array>> {
  using base = gpu::stored_operator<V, hyb<V, gpu_array>>;
  using base::matrix_;

public:
  hyb_on_gpu(const hyb<V, host_array>& a, std::string_view kernel)
      : base(upload(a)), regular_(a.shape, kernel), rest_(a.rest.val.size()) {}

  std::string kernel() const override { return regular_.kernel(); }

  void do_apply_dot(cview<V> x, view<V> y, slot xy) const override {
    const gpu::selected_device here(this->where().ordinal);
    if (matrix_.rest.val.empty()) return do_apply_with(x, y, {{}, {x, xy}});
    if (!y.empty()) multiply(V(1), x, V(0), y);
    gpu::space<V>{}.dot(x, y, xy); // of the complete y
  }
  void do_apply_with(cview<V> x, view<V> y, const epilogue<V>& e) const override {
    const gpu::selected_device here(this->where().ordinal);
    const auto run = [&](V alpha, V beta, const auto& ending) {
      regular_(view_of(matrix_.regular), alpha, x, beta, y, ending);
    };
    if (matrix_.rest.val.empty() && gpu::with_row_end(e, y, gpu::current_queue(), run)) return;
    any_operator<V>::do_apply_with(x, y, e); // of the complete y
  }

private:
  void multiply(V alpha, cview<V> x, V beta, view<V> y) const override {
    regular_(view_of(matrix_.regular), alpha, x, beta, y, gpu::row_end<V, 0>{});
    rest_.add(view_of(matrix_.rest), alpha, x, y);
  }

  ell_product regular_;
  coo_format::segmented_sum<V> rest_;
};

} // namespace

template <class V>
std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view kernel) {
  const auto reaching = rows_reaching(as_cview(row_lengths(a)));
  auto matrix = to_hyb(a, width_by(parameters, reaching, sizeof(V)));
  a = {}; // the copy on its way to the GPU is the second one
  return std::make_unique<hyb_on_gpu<V>>(matrix, kernel);
}

template std::unique_ptr<any_operator<double>> make_gpu(coo<double>, std::string_view, std::string_view);
template std::unique_ptr<any_operator<float>> make_gpu(coo<float>, std::string_view, std::string_view);

} // namespace furrow::hyb_format
