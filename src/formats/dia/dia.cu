// SPDX-License-Identifier: BSD-3-Clause
#include "convert.hpp"
#include "diagonals_kernel.hpp"
#include "gpu_convert.hpp"

#include "backends/gpu/operator.hpp"
#include "backends/row_tiles.hpp"
#include "core/kernel_numbers.hpp"

#include <furrow/formats.hpp>
#include <furrow/value.hpp>

namespace furrow::dia_format {
namespace {

/// Rows that a thread of the `tiles` kernel takes.
template <class V> constexpr int rows_a_thread = is_wide<V> ? 1 : 4;

template <class V> class dia_on_gpu final : public gpu::one_pass_operator<dia_on_gpu<V>, V, dia<V, gpu_array>> {
  using base = gpu::one_pass_operator<dia_on_gpu<V>, V, dia<V, gpu_array>>;
  friend base;
  using base::matrix_;

public:
  dia_on_gpu(dia<V, gpu_array> a, std::string_view kernel)
      : base(std::move(a)), kernel_(kernel), block_(read_kernel_numbers(kernel).block) {
    if (kernel_ == "auto")
      kernel_ = gpu::tiles_fill<rows_a_thread<V>>(matrix_.shape.rows, gpu::current_queue()) ? "tiles" : "rows";
  }

  std::string kernel() const override { return kernel_; }

private:
  template <int N> void launch(V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) const {
    const auto a = view_of(matrix_);
    if (kernel_ == "tiles") return gpu::launch_tiles<rows_a_thread<V>>(a, alpha, x, beta, y, ending);
    gpu::queue& q = gpu::current_queue();
    if (block_) {
      return gpu::end_rows_apart(ending, y, [&] {
        with_block(block_, [&]<int B>(std::integral_constant<int, B>) {
          gpu::launch(diagonals_kernel<V, 0, B>, gpu::blocks_for(a.shape.rows, B, q), B, 0, q, a, alpha, x, beta, y,
                      gpu::row_end<V, 0>{});
        });
      });
    }
    gpu::launch(diagonals_kernel<V, N>, gpu::blocks_for(a.shape.rows, diagonals_threads, q), diagonals_threads, 0, q, a,
                alpha, x, beta, y, ending);
  }

  std::string kernel_;
  int block_ = 0; ///< threads of a block of `rows` where they were named
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
