// SPDX-License-Identifier: BSD-3-Clause
#include "cusparse_krylov.hpp"

#include "cublas_loop.hpp"
#include "rivals/cusparse.hpp"

#include "formats/csr/convert.hpp"

#include <furrow/storage.hpp>

#include <algorithm>
#include <array>

namespace furrow::bench {
namespace {

using namespace cublas_loop;
using cusparse_rival::check;

/// A in CSR and a product from any place to any other; the faster of the two algorithms that cuSPARSE has for rows.
class row_product {
public:
  explicit row_product(const coo<double>& a) : a_(upload(to_csr<std::int32_t>(a))) {
    check(cusparseCreateCsr(&matrix_, a_.shape.rows, a_.shape.cols, a_.val.size(), a_.row_ptr.data(), a_.col.data(),
                            a_.val.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                            CUDA_R_64F));
    gpu_array<double> x(host_array<double>(a_.shape.cols, 1.0)), y(a_.shape.rows);
    std::array<double, 2> seconds{};
    for (std::size_t k = 0; k < seconds.size(); ++k) {
      take(algorithms[k], x.data(), y.data());
      seconds[k] = seconds_of_a_step(
          20, [] {}, [&](index_t) { (*this)(x.data(), y.data()); });
    }
    take(algorithms[seconds[1] < seconds[0]], x.data(), y.data());
  }
  row_product(const row_product&) = delete;
  row_product& operator=(const row_product&) = delete;
  ~row_product() {
    cusparseDestroyDnVec(x_);
    cusparseDestroyDnVec(y_);
    cusparseDestroySpMat(matrix_);
  }

  void operator()(const double* x, double* y) {
    check(cusparseDnVecSetValues(x_, const_cast<double*>(x)));
    check(cusparseDnVecSetValues(y_, y));
    check(cusparseSpMV(cusparse_rival::library(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_,
                       CUDA_R_64F, algorithm_, work_.data()));
  }

private:
  static constexpr std::array algorithms{CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2};

  void take(cusparseSpMVAlg_t algorithm, double* x, double* y) {
    algorithm_ = algorithm;
    if (!x_) {
      check(cusparseCreateDnVec(&x_, a_.shape.cols, x, CUDA_R_64F));
      check(cusparseCreateDnVec(&y_, a_.shape.rows, y, CUDA_R_64F));
    }
    std::size_t bytes = 0;
    const auto handle = cusparse_rival::library();
    check(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_, CUDA_R_64F,
                                  algorithm, &bytes));
    work_ = gpu_array<char>(std::max<index_t>(static_cast<index_t>(bytes), 1));
    check(cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_, CUDA_R_64F,
                                  algorithm, work_.data()));
  }

  csr<double, std::int32_t, gpu_array> a_;
  cusparseSpMatDescr_t matrix_{};
  cusparseDnVecDescr_t x_{}, y_{};
  cusparseSpMVAlg_t algorithm_{};
  gpu_array<char> work_;
  double one_ = 1, zero_ = 0;
};

__global__ void quotient_kernel(const double* num, const double* den, double* out, double* negative) {
  *out = *num / *den;
  *negative = -*out;
}
/// beta = (rho / rho_old) (alpha / omega), and rho becomes the old one.
__global__ void beta_kernel(double* rho_old, const double* rho, const double* alpha, const double* omega,
                            double* beta) {
  *beta = *rho / *rho_old * (*alpha / *omega);
  *rho_old = *rho;
}
__global__ void reciprocal_kernel(const double* norm, double* out) { *out = 1 / *norm; }

gpu_array<double> right_hand_side(const coo<double>& a) {
  host_array<double> b(a.shape.rows, 0.0);
  for (index_t k = 0; k < a.nnz(); ++k) b[a.row[k]] += a.val[k];
  return gpu_array<double>(b);
}

} // namespace

loop_seconds cusparse_bicgstab(const coo<double>& a, index_t iterations) {
  const auto stream = gpu::current_queue().stream;
  const auto dense = library();
  const int n = static_cast<int>(a.shape.rows);
  row_product multiply(a);
  const auto b = right_hand_side(a);
  gpu_array<double> x(n), r(n), q(n), p(n), v(n), t(n), one(host_array<double>{1.0}),
      numbers(host_array<double>(12, 0.0));
  double *rho_old = numbers.data(), *rho = rho_old + 1, *qv = rho + 1, *alpha = qv + 1, *minus_alpha = alpha + 1,
         *ts = minus_alpha + 1, *tt = ts + 1, *omega = tt + 1, *minus_omega = omega + 1, *beta = minus_omega + 1,
         *rr = beta + 1;
  const auto begin = [&] {
    check(cudaMemsetAsync(x.data(), 0, x.byte_count(), stream));
    r = b;
    q = b;
    p = b;
    check(cublasDdot(dense, n, q.data(), 1, r.data(), 1, rho_old));
  };
  const auto step = [&] {
    multiply(p.data(), v.data());
    check(cublasDdot(dense, n, q.data(), 1, v.data(), 1, qv));
    quotient_kernel<<<1, 1, 0, stream>>>(rho_old, qv, alpha, minus_alpha);
    check(cublasDaxpy(dense, n, minus_alpha, v.data(), 1, r.data(), 1)); // r is s
    multiply(r.data(), t.data());
    check(cublasDdot(dense, n, t.data(), 1, r.data(), 1, ts));
    check(cublasDdot(dense, n, t.data(), 1, t.data(), 1, tt));
    quotient_kernel<<<1, 1, 0, stream>>>(ts, tt, omega, minus_omega);
    check(cublasDaxpy(dense, n, alpha, p.data(), 1, x.data(), 1));
    check(cublasDaxpy(dense, n, omega, r.data(), 1, x.data(), 1));
    check(cublasDaxpy(dense, n, minus_omega, t.data(), 1, r.data(), 1));
    check(cublasDdot(dense, n, q.data(), 1, r.data(), 1, rho));
    check(cublasDdot(dense, n, r.data(), 1, r.data(), 1, rr));
    beta_kernel<<<1, 1, 0, stream>>>(rho_old, rho, alpha, omega, beta);
    check(cublasDaxpy(dense, n, minus_omega, v.data(), 1, p.data(), 1));
    check(cublasDscal(dense, n, beta, p.data(), 1));
    check(cublasDaxpy(dense, n, one.data(), r.data(), 1, p.data(), 1));
  };
  double home = 0;
  loop_seconds seconds;
  seconds.read_each = seconds_of_a_step(iterations, begin, [&](index_t) {
    step();
    check(cudaMemcpyAsync(&home, rr, sizeof(double), cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
  });
  seconds.blind = seconds_of_a_graph(iterations, begin, [&](index_t) { step(); });
  return seconds;
}

loop_seconds cusparse_gmres(const coo<double>& a, index_t restart, index_t iterations) {
  const auto stream = gpu::current_queue().stream;
  const auto dense = library();
  const int n = static_cast<int>(a.shape.rows), m = static_cast<int>(restart);
  row_product multiply(a);
  const auto b = right_hand_side(a);
  gpu_array<double> basis(index_t(n) * (m + 1)), x(n), h(2 * (m + 1)),
      numbers(host_array<double>{1.0, -1.0, 0.0, 0.0, 0.0});
  double *one = numbers.data(), *minus_one = one + 1, *zero = one + 2, *norm = one + 3, *reciprocal = one + 4;
  const auto column = [&](int j) { return basis.data() + index_t(n) * j; };
  const auto normalise = [&](double* w) {
    check(cublasDnrm2(dense, n, w, 1, norm));
    reciprocal_kernel<<<1, 1, 0, stream>>>(norm, reciprocal);
    check(cublasDscal(dense, n, reciprocal, w, 1));
  };
  const auto begin = [&] {
    check(cudaMemsetAsync(x.data(), 0, x.byte_count(), stream));
    check(cudaMemcpyAsync(column(0), b.data(), b.byte_count(), cudaMemcpyDeviceToDevice, stream));
    normalise(column(0));
  };
  const auto step = [&](index_t i) {
    const int j = static_cast<int>(i % m);
    double* w = column(j + 1);
    multiply(column(j), w);
    for (int twice = 0; twice < 2; ++twice) {
      double* coefficients = h.data() + twice * (m + 1);
      check(cublasDgemv(dense, CUBLAS_OP_T, n, j + 1, one, column(0), n, w, 1, zero, coefficients, 1));
      check(cublasDgemv(dense, CUBLAS_OP_N, n, j + 1, minus_one, column(0), n, coefficients, 1, one, w, 1));
    }
    normalise(w);
    if (j + 1 < m) return;
    // The end of a cycle: x += V y, and the next one begins with b - A x.
    check(cublasDgemv(dense, CUBLAS_OP_N, n, m, one, column(0), n, h.data(), 1, one, x.data(), 1));
    multiply(x.data(), column(0));
    check(cublasDscal(dense, n, minus_one, column(0), 1));
    check(cublasDaxpy(dense, n, one, b.data(), 1, column(0), 1));
    normalise(column(0));
  };
  std::array<double, 2> home{};
  loop_seconds seconds;
  seconds.read_each = seconds_of_a_step(iterations, begin, [&](index_t i) {
    step(i);
    check(cudaMemcpyAsync(home.data(), norm, sizeof(double), cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
  });
  seconds.blind = seconds_of_a_step(iterations, begin, step);
  return seconds;
}

} // namespace furrow::bench
