// SPDX-License-Identifier: BSD-3-Clause
#include "gpu_rivals.hpp"

#include "backends/gpu/queue.hpp"
#include "formats/csr/convert.hpp"
#include "tune/timing.hpp"

#include <furrow/storage.hpp>

#include <cublas_v2.h>
#include <cusparse.h>

#include <algorithm>

namespace furrow::bench {
namespace {

void check(cusparseStatus_t s) {
  furrow::check(s == CUSPARSE_STATUS_SUCCESS, fault::device, cusparseGetErrorString(s));
}
void check(cublasStatus_t s) { furrow::check(s == CUBLAS_STATUS_SUCCESS, fault::device, cublasGetStatusString(s)); }
void check(cudaError_t s) { gpu::check(s); }

struct handles {
  cusparseHandle_t sparse = nullptr;
  cublasHandle_t dense = nullptr;
  handles() {
    check(cusparseCreate(&sparse));
    check(cublasCreate(&dense));
    check(cusparseSetStream(sparse, gpu::current_queue().stream));
    check(cublasSetStream(dense, gpu::current_queue().stream));
    check(cublasSetPointerMode(dense, CUBLAS_POINTER_MODE_DEVICE));
  }
};
handles& libraries() {
  static handles h;
  return h;
}

template <class V> constexpr cudaDataType type = sizeof(V) == 8 ? CUDA_R_64F : CUDA_R_32F;

/// A csr matrix with its descriptors and the buffer of one algorithm.
template <class V> class product {
public:
  product(const csr<V, std::int32_t, gpu_array>& a, V* x, V* y, cusparseSpMVAlg_t algorithm) : algorithm_(algorithm) {
    check(cusparseCreateCsr(&matrix_, a.shape.rows, a.shape.cols, a.val.size(),
                            const_cast<std::int32_t*>(a.row_ptr.data()), const_cast<std::int32_t*>(a.col.data()),
                            const_cast<V*>(a.val.data()), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                            CUSPARSE_INDEX_BASE_ZERO, type<V>));
    check(cusparseCreateDnVec(&x_, a.shape.cols, x, type<V>));
    check(cusparseCreateDnVec(&y_, a.shape.rows, y, type<V>));
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(libraries().sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_,
                                  type<V>, algorithm_, &bytes));
    buffer_ = gpu_array<char>(static_cast<index_t>(bytes) + 16);
    check(cusparseSpMV_preprocess(libraries().sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_,
                                  type<V>, algorithm_, buffer_.data()));
  }
  product(const product&) = delete;
  ~product() {
    cusparseDestroySpMat(matrix_);
    cusparseDestroyDnVec(x_);
    cusparseDestroyDnVec(y_);
  }
  void run() {
    check(cusparseSpMV(libraries().sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_, type<V>,
                       algorithm_, buffer_.data()));
  }

private:
  V one_ = 1, zero_ = 0;
  cusparseSpMVAlg_t algorithm_;
  cusparseSpMatDescr_t matrix_{};
  cusparseDnVecDescr_t x_{}, y_{};
  gpu_array<char> buffer_;
};

__global__ void quotient_kernel(const double* num, const double* den, double* out, double* negative) {
  *out = *num / *den;
  *negative = -*out;
}

} // namespace

double time_on_gpu(const std::function<void()>& work) {
  constexpr int warm_up = 5, runs = 25;
  gpu::time_calls(work, warm_up);
  auto seconds = gpu::time_calls(work, runs);
  std::sort(seconds.begin(), seconds.end());
  return seconds[runs / 2];
}

std::string library_versions() {
  int sparse = 0, dense = 0;
  check(cusparseGetVersion(libraries().sparse, &sparse));
  check(cublasGetVersion(libraries().dense, &dense));
  return "cuSPARSE " + std::to_string(sparse) + ", cuBLAS " + std::to_string(dense);
}

template <class V>
std::vector<std::pair<std::string, double>> cusparse_products(const coo<V>& a, cview<V> x, view<V> y) {
  const auto matrix = upload(to_csr<std::int32_t>(a));
  std::vector<std::pair<std::string, double>> found;
  for (const auto& [name, algorithm] :
       {std::pair{"csr/alg1", CUSPARSE_SPMV_CSR_ALG1}, {"csr/alg2", CUSPARSE_SPMV_CSR_ALG2}}) {
    product<V> p(matrix, const_cast<V*>(x.data), y.data, algorithm);
    found.emplace_back(name, time_on_gpu([&] { p.run(); }));
  }
  return found;
}
template std::vector<std::pair<std::string, double>> cusparse_products(const coo<double>&, cview<double>, view<double>);
template std::vector<std::pair<std::string, double>> cusparse_products(const coo<float>&, cview<float>, view<float>);

std::pair<double, double> cusparse_cg(const coo<double>& a, index_t iterations) {
  const auto stream = gpu::current_queue().stream;
  const auto dense = libraries().dense;
  const auto matrix = upload(to_csr<std::int32_t>(a));
  const int n = static_cast<int>(a.shape.rows);
  gpu_array<double> b(host_array<double>(n, 1.0)), x(n), r(n), p(n), q(n), one(host_array<double>{1.0}),
      numbers(host_array<double>(8, 0.0));
  product<double> multiply(matrix, p.data(), q.data(), CUSPARSE_SPMV_CSR_ALG1);
  double *rho = numbers.data(), *pq = rho + 1, *alpha = rho + 2, *minus_alpha = rho + 3, *next = rho + 4,
         *beta = rho + 5, *unused = rho + 6;
  const auto begin = [&] {
    check(cudaMemsetAsync(x.data(), 0, x.byte_count(), stream));
    r = b;
    p = b;
    check(cublasDdot(dense, n, r.data(), 1, r.data(), 1, rho));
  };
  const auto step = [&] {
    multiply.run();
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
