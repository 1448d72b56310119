// SPDX-License-Identifier: BSD-3-Clause
#include "on_gpu.hpp"

#include "backends/gpu/queue.hpp"
#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/formats.hpp>
#include <furrow/generate.hpp>

namespace furrow {
namespace {

/// As much of the memory's rate as it can get, until `stop` is set.
__global__ void __launch_bounds__(1024) busy_kernel(const volatile int* stop, double* data, index_t n) {
  const index_t stride = index_t(gridDim.x) * blockDim.x;
  for (int turn = 0; turn < 100000 && !*stop; ++turn)
    for (index_t i = index_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) data[i] += 1;
}

/// Keeps half of the multiprocessors busy on a stream of its own as long as it lives.
class heavy_load {
public:
  heavy_load() : data_(index_t(16) << 20) {
    gpu::check(cudaMemset(data_.data(), 0, data_.byte_count()));
    gpu::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    gpu::check(cudaHostAlloc(reinterpret_cast<void**>(&stop_), sizeof *stop_, cudaHostAllocMapped));
    *stop_ = 0;
    busy_kernel<<<static_cast<unsigned>(gpu::current_queue().multiprocessors / 2), 1024, 0, stream_>>>(
        stop_, data_.data(), data_.size());
    gpu::check(cudaGetLastError());
  }
  heavy_load(const heavy_load&) = delete;
  bool busy() const { return cudaStreamQuery(stream_) == cudaErrorNotReady; }
  ~heavy_load() {
    *const_cast<volatile int*>(stop_) = 1;
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
    cudaFreeHost(stop_);
  }

private:
  gpu_array<double> data_;
  cudaStream_t stream_ = nullptr;
  int* stop_ = nullptr;
};

template <class V> struct gpu_under_load : on_gpu_in<V> {};
TYPED_TEST_SUITE(gpu_under_load, precisions);

TYPED_TEST(gpu_under_load, a_hundred_products_have_the_same_bits) {
  using V = TypeParam;
  constexpr int repeats = 100;
  for (const char* name : {"powerlaw:30000:12:2.1", "poisson3d:20"}) {
    const auto a = kit::as_precision<V>(generate(name).a);
    const stats s = measure(a);
    const gpu_array<V> x(kit::random_vector<V>(a.shape.cols, 3));
    for (const format_entry* f : formats()) {
      if (!f->lay_out(s, precision_of<V>, {}).refusal.empty()) continue;
      for (const kernel_entry& k : f->gpu.kernels) {
        SCOPED_TRACE(std::string(name) + " in " + std::string(f->name) + " by " + std::string(k.name));
        const auto op = f->gpu.make<V>()(coo<V>(a), {}, k.name);
        gpu_array<V> y(a.shape.rows);
        const gpu_array<V> w(kit::random_vector<V>(a.shape.rows, 4));
        gpu_array<double> dots(5); // in the same pass
        const epilogue<V> ends{{}, {}, {as_cview(x), as_cview(w), slot{dots.data()}}};
        const auto product = [&] {
          op->apply_with(as_cview(x), as_view(y), ends);
          return std::pair(host_array<V>(y), host_array<double>(dots));
        };
        const auto [alone, dots_alone] = product();
        const heavy_load beside;
        for (int n = 0; n < repeats; ++n) {
          const auto [again, dots_again] = product();
          ASSERT_TRUE(kit::same_bits(as_cview(again), as_cview(alone))) << "product " << n;
          ASSERT_TRUE(kit::same_bits(as_cview(dots_again), as_cview(dots_alone))) << "sums of product " << n;
        }
        EXPECT_TRUE(beside.busy()) << "the load ended before the products";
      }
    }
  }
}

} // namespace
} // namespace furrow
