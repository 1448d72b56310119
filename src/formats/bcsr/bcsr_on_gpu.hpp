// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "block_size.hpp"
#include "blocks_kernel.hpp"
#include "convert.hpp"
#include "gpu_convert.hpp"
#include "several_kernel.hpp"

#include "backends/gpu/operator.hpp"

#include <limits>

namespace furrow::bcsr_format {

/// bcsr in GPU memory. 64-bit offsets come with rows long enough for a warp each, or with so many that it does not
/// matter.
template <int K, class V, class I>
class bcsr_on_gpu final : public gpu::one_pass_operator<bcsr_on_gpu<K, V, I>, V, bcsr<V, I, gpu_array>> {
  using base = gpu::one_pass_operator<bcsr_on_gpu<K, V, I>, V, bcsr<V, I, gpu_array>>;
  friend base;
  using base::matrix_;

public:
  explicit bcsr_on_gpu(bcsr<V, I, gpu_array> a)
      : base(std::move(a)), block_rows_(blocks_over(matrix_.shape.rows, K)),
        mean_(block_rows_ == 0 ? 0 : double(matrix_.block.size()) / double(block_rows_)),
        width_(sizeof(I) == 8 || block_rows_ == 0 ? gpu::warp : block_lanes(mean_, K, gpu::warp)) {}

  std::string kernel() const override { return "blocks"; }

private:
  template <int N> void launch(V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) const {
    if constexpr (sizeof(I) == 4) {
      if (width_ == 8) return launch_width<8>(alpha, x, beta, y, ending);
      if (width_ == 16) return launch_width<16>(alpha, x, beta, y, ending);
    }
    launch_width<gpu::warp>(alpha, x, beta, y, ending);
  }

  template <int W, int N> void launch_width(V alpha, cview<V> x, V beta, view<V> y, gpu::row_end<V, N> ending) const {
    gpu::queue& q = gpu::current_queue();
    const index_t work = block_rows_ * W;
    // A pass with sums may have no more blocks than there is room for partial sums; the others may cover all rows.
    const auto grid = N > 0 ? gpu::blocks_for(work, gpu::block_threads, q, gpu::blocks_with_sums)
                            : static_cast<unsigned>((work + gpu::block_threads - 1) / gpu::block_threads);
    gpu::launch(gpu::blocks_kernel<K, W, V, I, N>, grid, gpu::block_threads, 0, q, gpu_view(), alpha, x, beta, y,
                ending);
  }

  bool multiply_several(cview<V> x, view<V> y, index_t count) const override {
    gpu::multiply_block_rows<K>(gpu_view(), mean_, x, y, count);
    return true;
  }

  bcsr<V, I, cview> gpu_view() const { return view_of(matrix_); }

  index_t block_rows_;
  double mean_; ///< blocks of one
  int width_;   ///< lanes a block row
};

template <class I, class V> std::unique_ptr<any_operator<V>> wrap(coo<V> a, index_t edge) {
  return with_edge(edge, [&](auto k) -> std::unique_ptr<any_operator<V>> {
    auto matrix = to_bcsr<I, k>(a);
    a = {};
    return std::make_unique<bcsr_on_gpu<k, V, I>>(upload(matrix));
  });
}

template <class V> std::unique_ptr<any_operator<V>> make_gpu(coo<V> a, std::string_view parameters, std::string_view) {
  const index_t edge = edge_for(a, parameters);
  const bool narrow = a.nnz() <= std::numeric_limits<std::int32_t>::max();
  return narrow ? wrap<std::int32_t>(std::move(a), edge) : wrap<std::int64_t>(std::move(a), edge);
}

/// blocks: their number, or -1.
template <class I, class V>
std::unique_ptr<any_operator<V>> wrap(const rows_on_gpu<V>& a, index_t edge, index_t blocks) {
  return with_edge(edge, [&](auto k) -> std::unique_ptr<any_operator<V>> {
    auto made = std::make_unique<bcsr_on_gpu<k, V, I>>(to_bcsr<I, k>(a, blocks));
    gpu::wait(gpu::current_queue());
    return made;
  });
}

template <class V>
std::unique_ptr<any_operator<V>> from_rows(const rows_on_gpu<V>& a, const stats& s, std::string_view parameters,
                                           std::string_view) {
  const index_t edge = edge_for(s, precision_of<V>, parameters);
  const bool narrow = a.nnz() <= std::numeric_limits<std::int32_t>::max();
  // Blocks that were not counted are -1, or 0 where nobody looked.
  const index_t counted = s.blocks[static_cast<std::size_t>(edge)], blocks = counted > 0 ? counted : -1;
  return narrow ? wrap<std::int32_t>(a, edge, blocks) : wrap<std::int64_t>(a, edge, blocks);
}

} // namespace furrow::bcsr_format
