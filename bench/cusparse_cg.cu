// SPDX-License-Identifier: BSD-3-Clause
#include "cusparse_cg.hpp"

#include "backends/gpu/queue.hpp"
#include "rivals/rival.hpp"

#include <cublas_v2.h>

namespace furrow::bench {
namespace {

void check(cublasStatus_t s) { furrow::check(s == CUBLAS_STATUS_SUCCESS, fault::device, cublasGetStatusString(s)); }
void check(cudaError_t s) { gpu::check(s); }

cublasHandle_t library() {
  static const cublasHandle_t handle = [] {
    cublasHandle_t h{};
    check(cublasCreate(&h));
    check(cublasSetStream(h, gpu::current_queue().stream));
    check(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
    return h;
  }();
  return handle;
}

__global__ void quotient_kernel(const double* num, const double* den, double* out, double* negative) {
  *out = *num / *den;
  *negative = -*out;
}

} // namespace

std::string cublas_version() {
  int version = 0;
  check(cublasGetVersion(library(), &version));
  return std::to_string(version);
}

std::pair<double, double> cusparse_cg(const coo<double>& a, index_t iterations) {
  const auto stream = gpu::current_queue().stream;
  const auto dense = library();
  const int n = static_cast<int>(a.shape.rows);
  gpu_array<double> b(host_array<double>(n, 1.0)), x(n), r(n), p(n), q(n), one(host_array<double>{1.0}),
      numbers(host_array<double>(8, 0.0));
  const rival_way* const way = find_rival("cuSPARSE", "csr_alg1");
  furrow::check(way != nullptr, fault::usage, "this build is without cuSPARSE");
  const auto multiply = way->f64(a, as_cview(p), as_view(q));
  double *rho = numbers.data(), *pq = rho + 1, *alpha = rho + 2, *minus_alpha = rho + 3, *next = rho + 4,
         *beta = rho + 5, *unused = rho + 6;
  const auto begin = [&] {
    check(cudaMemsetAsync(x.data(), 0, x.byte_count(), stream));
    r = b;
    p = b;
    check(cublasDdot(dense, n, r.data(), 1, r.data(), 1, rho));
  };
  const auto step = [&] {
    multiply->product();
    check(cublasDdot(dense, n, p.data(), 1, q.data(), 1, pq));
    quotient_kernel<<<1, 1, 0, stream>>>(rho, pq, alpha, minus_alpha);
    check(cublasDaxpy(dense, n, alpha, p.data(), 1, x.data(), 1));
    check(cublasDaxpy(dense, n, minus_alpha, q.data(), 1, r.data(), 1));
    check(cublasDdot(dense, n, r.data(), 1, r.data(), 1, next));
    quotient_kernel<<<1, 1, 0, stream>>>(next, rho, beta, unused);
    check(cublasDscal(dense, n, beta, p.data(), 1));
    check(cublasDaxpy(dense, n, one.data(), r.data(), 1, p.data(), 1));
    check(cudaMemcpyAsync(rho, next, sizeof(double), cudaMemcpyDeviceToDevice, stream));
  };
  cudaEvent_t first, last;
  check(cudaEventCreate(&first));
  check(cudaEventCreate(&last));
  const auto time = [&](auto&& one_step) {
    begin();
    for (int i = 0; i < 10; ++i) one_step();
    begin();
    check(cudaEventRecord(first, stream));
    for (index_t i = 0; i < iterations; ++i) one_step();
    check(cudaEventRecord(last, stream));
    check(cudaEventSynchronize(last));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, first, last));
    return ms * 1e-3 / double(iterations);
  };
  double home = 0;
  const double read_each = time([&] {
    step();
    check(cudaMemcpyAsync(&home, rho, sizeof(double), cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
  });
  cudaGraph_t recorded;
  cudaGraphExec_t graph;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  step();
  check(cudaStreamEndCapture(stream, &recorded));
  check(cudaGraphInstantiate(&graph, recorded, 0));
  const double graphed = time([&] { check(cudaGraphLaunch(graph, stream)); });
  check(cudaGraphExecDestroy(graph));
  check(cudaGraphDestroy(recorded));
  cudaEventDestroy(first);
  cudaEventDestroy(last);
  return {read_each, graphed};
}

} // namespace furrow::bench
