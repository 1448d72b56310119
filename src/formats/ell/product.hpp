// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "ell.hpp"

#include "backends/gpu/operator.hpp"
#include "backends/gpu/queue.hpp"
#include "backends/row_kernel.hpp"
#include "core/kernel_numbers.hpp"

#include <string>
#include <string_view>

namespace furrow {

/// The kernels of ell on the GPU, for every format that has a part in ell.
class ell_product {
public:
  static constexpr int rows = 2; ///< that a thread of `tiles` takes

  ell_product(shape2 shape, std::string_view kernel) : kernel_(kernel), block_(read_kernel_numbers(kernel).block) {
    if (kernel_ == "auto") kernel_ = gpu::tiles_fill<rows>(shape.rows, gpu::current_queue()) ? "tiles" : "scalar";
  }

  const std::string& kernel() const { return kernel_; }

  /// y <- alpha A x + beta y, and what `ending` asks for.
  template <class V, int N>
  void operator()(const ell<V, cview>& a, V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) const {
    if (kernel_ == "tiles") return gpu::launch_tiles<rows>(a, alpha, x, beta, y, ending);
    gpu::queue& q = gpu::current_queue();
    if (block_) {
      const index_t blocks = (a.shape.rows + block_ - 1) / block_;
      return gpu::end_rows_apart(ending, y, [&] {
        gpu::launch(gpu::rows_in_blocks_kernel<1, ell<V, cview>, V>, static_cast<unsigned>(blocks), block_, 0, q, a,
                    alpha, x, beta, y);
      });
    }
    // A pass with sums may have no more blocks than there is room for partial sums; the others may cover all rows.
    const index_t wanted = (a.shape.rows + gpu::row_threads - 1) / gpu::row_threads;
    const auto blocks = N > 0 ? gpu::blocks_for(a.shape.rows, gpu::row_threads, q, gpu::blocks_with_sums)
                              : static_cast<unsigned>(wanted);
    gpu::launch(gpu::rows_kernel<1, ell<V, cview>, V, N>, blocks, gpu::row_threads, 0, q, a, alpha, x, beta, y, ending);
  }

private:
  std::string kernel_;
  int block_ = 0; ///< threads of a block of `scalar` where they were named
};

} // namespace furrow
