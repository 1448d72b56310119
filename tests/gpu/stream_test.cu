// SPDX-License-Identifier: BSD-3-Clause
// Streams of the caller, and the memory pool of the library.
#include "backends/gpu/queue.hpp"

#include "on_gpu.hpp"

#include "kit/guarded.hpp"
#include "kit/matrices.hpp"
#include "kit/random.hpp"

#include <furrow/matrix.hpp>
#include <furrow/solver.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace furrow {
namespace {

/// A stream of the caller.
struct stream {
  cudaStream_t is = nullptr;
  stream() { gpu::check(cudaStreamCreateWithFlags(&is, cudaStreamNonBlocking)); }
  stream(const stream&) = delete;
  ~stream() { cudaStreamDestroy(is); }
};

/// x = value, after some 20 ms.
template <class V> __global__ void fill_late(V* x, index_t n, V value) {
  const long long began = clock64();
  while (clock64() - began < 30'000'000) {
  }
  for (index_t i = threadIdx.x; i < n; i += blockDim.x) x[i] = value;
}

/// Runs what was recorded, once, waits for it, and ends it.
void run_and_end(cudaGraph_t graph, const stream& on) {
  cudaGraphExec_t run = nullptr;
  gpu::check(cudaGraphInstantiate(&run, graph, 0));
  gpu::check(cudaGraphLaunch(run, on.is));
  gpu::check(cudaStreamSynchronize(on.is));
  cudaGraphExecDestroy(run);
  cudaGraphDestroy(graph);
}

template <class V> struct gpu_stream : on_gpu_in<V> {
  const coo<V> a = kit::as_precision<V>(kit::laplacian(70, 60));
  const index_t n = 4200;
  const host_array<V> x = kit::random_vector<V>(4200, 1);

  solve_options options(std::string precond = "jacobi") const {
    return this->solving("cg", std::move(precond), sizeof(V) == 8 ? 1e-8 : 1e-4);
  }
  host_array<V> product(const matrix<V>& m) const {
    const gpu_array<V> from(x);
    gpu_array<V> to(n);
    m.apply(1, as_cview(from), 0, as_view(to));
    return host_array<V>(to);
  }
  host_array<V> answer(solver<V>& s) const {
    const gpu_array<V> b(x);
    gpu_array<V> u(host_array<V>(n, V(0)));
    EXPECT_EQ(s.solve(as_cview(b), as_view(u)).why, status::converged);
    return host_array<V>(u);
  }
};
TYPED_TEST_SUITE(gpu_stream, precisions);

TYPED_TEST(gpu_stream, of_the_caller_gives_the_same_bits) {
  using V = TypeParam;
  const matrix<V> m(this->a, {.format = "csr", .kernel = "merge", .where = this->gpu});
  solver<V> s(this->a, this->options());
  const auto y = this->product(m), u = this->answer(s);
  const stream mine;
  for (const cudaStream_t other : {mine.is, cudaStream_t(nullptr), cudaStreamPerThread}) {
    const execution_scope scope({this->gpu, other});
    EXPECT_EQ(current_stream(this->gpu), other);
    for (int k = 0; k < 3; ++k) {
      EXPECT_TRUE(kit::same_bits(as_cview(this->product(m)), as_cview(y)));
      EXPECT_TRUE(kit::same_bits(as_cview(this->answer(s)), as_cview(u)));
    }
    solver<V> made_here(this->a, this->options());
    EXPECT_TRUE(kit::same_bits(as_cview(this->answer(made_here)), as_cview(u)));
  }
  EXPECT_NE(current_stream(this->gpu), mine.is);
  EXPECT_TRUE(kit::same_bits(as_cview(this->product(m)), as_cview(y)));
}

TYPED_TEST(gpu_stream, orders_the_work_behind_the_callers_own) {
  using V = TypeParam;
  const matrix<V> m(this->a, {.format = "csr", .where = this->gpu});
  const stream mine;
  gpu_array<V> x(host_array<V>(this->n, V(0))), y(this->n);
  const host_array<V> ones(this->n, V(1));
  host_array<V> expected(this->n);
  m.apply(1, as_cview(ones), 0, as_view(expected));
  {
    const execution_scope scope({this->gpu, mine.is});
    fill_late<<<1, 256, 0, mine.is>>>(x.data(), this->n, V(1));
    m.apply(1, as_cview(x), 0, as_view(y));
  }
  const host_array<V> got(y); // on our own stream, which follows the scope
  EXPECT_TRUE(kit::same_bits(as_cview(got), as_cview(expected)));
}

TYPED_TEST(gpu_stream, takes_everything_that_a_product_enqueues) {
  using V = TypeParam;
  for (const char* format : {"csr", "sell", "coo", "hyb", "dia", "ell"}) {
    SCOPED_TRACE(format);
    const matrix<V> m(this->a, {.format = format, .where = this->gpu});
    const auto expected = this->product(m);
    const gpu_array<V> x(this->x);
    gpu_array<V> y(host_array<V>(this->n, V(0)));
    const stream mine;
    cudaGraph_t graph = nullptr;
    {
      const execution_scope scope({this->gpu, mine.is});
      gpu::check(cudaStreamBeginCapture(mine.is, cudaStreamCaptureModeThreadLocal));
      m.apply(1, as_cview(x), 0, as_view(y));
      gpu::check(cudaStreamEndCapture(mine.is, &graph));
    }
    std::size_t nodes = 0;
    gpu::check(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT_GE(nodes, 1u);
    EXPECT_TRUE(kit::same_bits(as_cview(host_array<V>(y)), as_cview(host_array<V>(this->n, V(0))))); // not run yet
    run_and_end(graph, mine);
    EXPECT_TRUE(kit::same_bits(as_cview(host_array<V>(y)), as_cview(expected)));
  }
}

TYPED_TEST(gpu_stream, may_be_recorded_before_it_is_named) {
  using V = TypeParam;
  const matrix<V> m(this->a, {.format = "csr", .where = this->gpu});
  const auto expected = this->product(m);
  const gpu_array<V> x(this->x);
  gpu_array<V> y(host_array<V>(this->n, V(0)));
  const stream mine;
  cudaGraph_t graph = nullptr;
  gpu::check(cudaStreamBeginCapture(mine.is, cudaStreamCaptureModeThreadLocal));
  {
    const execution_scope scope({this->gpu, mine.is});
    m.apply(1, as_cview(x), 0, as_view(y));
  }
  gpu::check(cudaStreamEndCapture(mine.is, &graph));
  run_and_end(graph, mine);
  EXPECT_TRUE(kit::same_bits(as_cview(host_array<V>(y)), as_cview(expected)));
}

TYPED_TEST(gpu_stream, of_two_threads_may_share_a_matrix) {
  using V = TypeParam;
  for (const char* kernel : {"merge", "segments", "auto"}) {
    const matrix<V> m(this->a, {.format = "csr", .kernel = kernel, .where = this->gpu});
    solver<V> first(this->a, this->options()), second(this->a, this->options("ic0"));
    const auto y = this->product(m), u = this->answer(first), v = this->answer(second);
    for (const bool own_streams : {false, true}) {
      std::atomic<int> wrong = 0;
      const auto work = [&](solver<V>& s, const host_array<V>& expected) {
        const stream mine;
        std::optional<execution_scope> scope;
        if (own_streams) scope.emplace(execution{this->gpu, mine.is});
        for (int k = 0; k < 20; ++k) {
          wrong += !kit::same_bits(as_cview(this->product(m)), as_cview(y));
          wrong += !kit::same_bits(as_cview(this->answer(s)), as_cview(expected));
        }
      };
      std::thread beside([&] { work(second, v); });
      work(first, u);
      beside.join();
      EXPECT_EQ(wrong, 0) << kernel << ", streams of their own: " << own_streams;
    }
  }
}

TYPED_TEST(gpu_stream, leaves_the_default_pool_to_others) {
  using V = TypeParam;
  const auto of_default_pool = [](cudaMemPoolAttr what) {
    cudaMemPool_t pool = nullptr;
    gpu::check(cudaDeviceGetDefaultMemPool(&pool, 0));
    std::uint64_t value = 0;
    gpu::check(cudaMemPoolGetAttribute(pool, what, &value));
    return value;
  };
  const auto used = of_default_pool(cudaMemPoolAttrUsedMemCurrent);
  const gpu_array<V> taken(index_t(1) << 22);
  EXPECT_EQ(of_default_pool(cudaMemPoolAttrUsedMemCurrent), used);
  EXPECT_EQ(of_default_pool(cudaMemPoolAttrReleaseThreshold), 0u);
}

} // namespace
} // namespace furrow
