// SPDX-License-Identifier: BSD-3-Clause
// Products with several vectors that lie row by row on a GPU, beside as many single ones and cuSPARSE's SpMM, its best
// algorithm for rows, preprocessed.
//   gpu_several [--json FILE] SPEC_OR_FILE...
#include "tune/steady.hpp"

#include <furrow/furrow.hpp>

#include <cusparse.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>

namespace {

using namespace furrow;
using nlohmann::json;

void check_sparse(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS) throw std::runtime_error(cusparseGetErrorString(status));
}

double median_seconds(const std::function<void()>& product) {
  return time_steadily(product, parse_device("gpu"), {25, 0, nullptr}).median;
}

/// Y <- A X by cuSPARSE.
class rival {
public:
  rival(const coo<double>& a, double* x, double* y, index_t count, cusparseSpMMAlg_t how) : how_(how) {
    host_array<int> row_ptr(a.shape.rows + 1, 0);
    for (index_t k = 0; k < a.nnz(); ++k) ++row_ptr[a.row[k] + 1];
    for (index_t i = 0; i < a.shape.rows; ++i) row_ptr[i + 1] += row_ptr[i];
    row_ptr_ = gpu_array<int>(row_ptr);
    col_ = gpu_array<std::int32_t>(a.col);
    val_ = gpu_array<double>(a.val);
    check_sparse(cusparseCreate(&handle_));
    check_sparse(cusparseSetStream(handle_, static_cast<cudaStream_t>(current_stream(parse_device("gpu")))));
    check_sparse(cusparseCreateCsr(&a_, a.shape.rows, a.shape.cols, a.nnz(), row_ptr_.data(), col_.data(), val_.data(),
                                   CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    check_sparse(cusparseCreateDnMat(&x_, a.shape.cols, count, count, x, CUDA_R_64F, CUSPARSE_ORDER_ROW));
    check_sparse(cusparseCreateDnMat(&y_, a.shape.rows, count, count, y, CUDA_R_64F, CUSPARSE_ORDER_ROW));
    std::size_t bytes = 0;
    check_sparse(cusparseSpMM_bufferSize(handle_, none, none, &one, a_, x_, &zero, y_, CUDA_R_64F, how_, &bytes));
    room_ = gpu_array<unsigned char>(static_cast<index_t>(bytes) + 1);
    check_sparse(cusparseSpMM_preprocess(handle_, none, none, &one, a_, x_, &zero, y_, CUDA_R_64F, how_, room_.data()));
  }
  rival(const rival&) = delete;
  ~rival() { cusparseDestroyDnMat(x_), cusparseDestroyDnMat(y_), cusparseDestroySpMat(a_), cusparseDestroy(handle_); }
  void product() {
    check_sparse(cusparseSpMM(handle_, none, none, &one, a_, x_, &zero, y_, CUDA_R_64F, how_, room_.data()));
  }

private:
  static constexpr auto none = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr double one = 1, zero = 0;
  cusparseSpMMAlg_t how_;
  cusparseHandle_t handle_{};
  cusparseSpMatDescr_t a_{};
  cusparseDnMatDescr_t x_{}, y_{};
  gpu_array<int> row_ptr_;
  gpu_array<std::int32_t> col_;
  gpu_array<double> val_;
  gpu_array<unsigned char> room_;
};

json measure_one(const std::string& name) {
  const device gpu = parse_device("gpu");
  coo<double> a = load(name).a;
  const matrix<double> m(coo<double>(a), {.where = gpu});
  json result{{"matrix", name}, {"rows", a.shape.rows}, {"entries", a.nnz()}, {"format", name_of(m.chosen())}};
  for (const index_t count : {4, 8, 16}) {
    host_array<double> ones(a.shape.cols * count, 1.0);
    for (index_t i = 0; i < ones.size(); ++i) ones[i] += double(i % 1000) / 1000;
    const gpu_array<double> x(ones);
    gpu_array<double> y(a.shape.rows * count), z(a.shape.rows * count);
    const double single = median_seconds([&] {
      for (index_t k = 0; k < count; ++k)
        m.apply(1, part(as_cview(x), k * a.shape.cols, a.shape.cols), 0,
                part(as_view(y), k * a.shape.rows, a.shape.rows));
    });
    const double together =
        median_seconds([&] { m.apply(1, as_cview(x), 0, as_view(y), count, storage_order::row_major); });
    double best = 1e300;
    for (const auto how : {CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3}) {
      rival r(a, const_cast<double*>(x.data()), z.data(), count, how);
      best = std::min(best, median_seconds([&] { r.product(); }));
    }
    const host_array<double> here(y), there(z);
    double worst = 0;
    for (index_t i = 0; i < here.size(); ++i)
      worst = std::max(worst, std::abs(here[i] - there[i]) / (1e-300 + std::abs(there[i]) + 1));
    std::printf("%-28s %-8s %2d vectors: %9.2f us, %.2f of as many single ones, cuSPARSE %9.2f us, %.2f times as fast; "
                "difference %.1e\n",
                name.c_str(), name_of(m.chosen()).c_str(), int(count), 1e6 * together, together / single, 1e6 * best,
                best / together, worst);
    result["vectors"].push_back({{"count", count}, {"seconds", together}, {"single", single}, {"cusparse", best}});
  }
  return result;
}

} // namespace

int main(int argc, char** argv) {
  try {
    std::string file;
    select_device(parse_device("gpu"));
    json all{{"device", describe(parse_device("gpu"))}, {"precision", "f64"}, {"results", json::array()}};
    for (int k = 1; k < argc; ++k) {
      if (std::string(argv[k]) == "--json" && k + 1 < argc) file = argv[++k];
      else all["results"].push_back(measure_one(argv[k]));
    }
    if (!file.empty()) std::ofstream(file) << all.dump(1) << '\n';
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gpu_several: %s\n", e.what());
    return 1;
  }
}
