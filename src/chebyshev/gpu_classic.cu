// SPDX-License-Identifier: BSD-3-Clause
#include "classic_kernels.hpp"
#include "engine.hpp"

#include <string>

namespace furrow::chebyshev {
namespace {

template <class V> class classic final : public sums_engine<V, gpu_array<V>> {
public:
  explicit classic(const product_task& task) : sums_engine<V, gpu_array<V>>(task) {}

  void run(batch<const V> a, batch<const V> b, batch<V> c) override {
    const product_task& t = this->task;
    const classic_job<V> j{a, b, c, t.shape, t.series};
    const int threads = classic_block(t.how, t.block, gpu::warp);
    const index_t blocks = classic_blocks(t.how, threads, gpu::warp, t.shape.keep);
    if (blocks >= index_t(1) << 31)
      throw error(fault::usage, "the kernel '" + std::string(name_of(t.how)) +
                                    "' has no grid for that many coefficients: choose direct");
    const auto stream = gpu::current_queue().stream;
    constexpr index_t most = 65535; // rows of a grid
    for (index_t first = 0; first < t.count; first += most) {
      const dim3 grid(unsigned(blocks), unsigned(t.count - first < most ? t.count - first : most));
      classic_kernel_of<V>(t.how, threads)<<<grid, threads, 0, stream>>>(j, first);
      gpu::check_launch();
    }
  }
  double memory_bytes() const override { return double(this->fixed_.byte_count()); }
};

} // namespace

template <class V> engine_pointer<V> gpu_classic(const product_task& task) {
  return std::make_unique<classic<V>>(task);
}
template engine_pointer<double> gpu_classic<double>(const product_task&);
template engine_pointer<float> gpu_classic<float>(const product_task&);

} // namespace furrow::chebyshev
