// SPDX-License-Identifier: BSD-3-Clause
#include "cusparse_cg.hpp"

#include "cublas_loop.hpp"
#include "rivals/rival.hpp"

namespace furrow::bench {
namespace {

using namespace cublas_loop;

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
  double home = 0;
  const double read_each = seconds_of_a_step(iterations, begin, [&](index_t) {
    step();
    check(cudaMemcpyAsync(&home, rho, sizeof(double), cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
  });
  const double graphed = seconds_of_a_graph(iterations, begin, [&](index_t) { step(); });
  return {read_each, graphed};
}

} // namespace furrow::bench
