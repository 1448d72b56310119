// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/queue.hpp"
#include "rival.hpp"

#include <cusparse.h>

/// What the ways of cuSPARSE share.
namespace furrow::bench::cusparse_rival {

inline void check(cusparseStatus_t s) {
  if (s != CUSPARSE_STATUS_SUCCESS)
    throw error(s == CUSPARSE_STATUS_ALLOC_FAILED ? fault::memory : fault::device,
                std::string("cuSPARSE: ") + cusparseGetErrorString(s));
}

/// One handle for the process, on the current queue.
cusparseHandle_t library();

template <class V> constexpr cudaDataType type = sizeof(V) == 8 ? CUDA_R_64F : CUDA_R_32F;

/// y = A x by the generic interface: the descriptor of the matrix, those of its vectors, the buffer, preprocessed.
/// A derived class owns the arrays, makes the descriptor and calls `prepare`.
template <class V> class product_of : public rival<V> {
public:
  product_of(const product_of&) = delete;
  product_of& operator=(const product_of&) = delete;
  ~product_of() override {
    cusparseDestroySpMat(matrix_);
    cusparseDestroyDnVec(x_);
    cusparseDestroyDnVec(y_);
  }
  void product() override {
    check(cusparseSpMV(library(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_, type<V>, algorithm_,
                       buffer_.data()));
  }

protected:
  product_of(cview<V> x, view<V> y, cusparseSpMVAlg_t algorithm) : algorithm_(algorithm) {
    check(cusparseCreateDnVec(&x_, x.size, const_cast<V*>(x.data), type<V>));
    check(cusparseCreateDnVec(&y_, y.size, y.data, type<V>));
  }
  void prepare() {
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(library(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_, type<V>,
                                  algorithm_, &bytes));
    buffer_ = gpu_array<char>(static_cast<index_t>(bytes) + 16);
    const auto s = cusparseSpMV_preprocess(library(), CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_,
                                           type<V>, algorithm_, buffer_.data());
    if (s != CUSPARSE_STATUS_NOT_SUPPORTED) check(s); // not every format has something to prepare
  }

  cusparseSpMatDescr_t matrix_{};

private:
  V one_ = 1, zero_ = 0;
  cusparseSpMVAlg_t algorithm_;
  cusparseDnVecDescr_t x_{}, y_{};
  gpu_array<char> buffer_;
};

} // namespace furrow::bench::cusparse_rival
