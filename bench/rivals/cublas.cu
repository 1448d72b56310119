// SPDX-License-Identifier: BSD-3-Clause
#include "dense.hpp"

#include "backends/gpu/queue.hpp"

#include <furrow/array.hpp>

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace furrow::bench::cublas_rival {
namespace {

void check(cublasStatus_t s) { furrow::check(s == CUBLAS_STATUS_SUCCESS, fault::device, cublasGetStatusString(s)); }

/// With room for sums in pieces, as much as the library asks for on this generation.
cublasHandle_t library() {
  static auto& room = *new gpu_array<char>(index_t(32) << 20);
  static const cublasHandle_t handle = [] {
    cublasHandle_t h{};
    check(cublasCreate(&h));
    return h;
  }();
  check(cublasSetStream(handle, gpu::current_queue().stream));
  check(cublasSetWorkspace(handle, room.data(), room.byte_count()));
  return handle;
}

template <class T>
void multiply(bool transposed, index_t rows, index_t cols, const T* a, const T* x, vector_value<T>* y) {
  const auto op = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int m = static_cast<int>(rows), n = static_cast<int>(cols);
  const vector_value<T> one = 1, zero = 0;
  const cublasHandle_t h = library();
  if constexpr (std::is_same_v<T, double>) check(cublasDgemv(h, op, m, n, &one, a, m, x, 1, &zero, y, 1));
  else if constexpr (std::is_same_v<T, float>) check(cublasSgemv(h, op, m, n, &one, a, m, x, 1, &zero, y, 1));
  else if constexpr (std::is_same_v<T, half>)
    check(cublasHSSgemvStridedBatched(h, op, m, n, &one, reinterpret_cast<const __half*>(a), m, 0,
                                      reinterpret_cast<const __half*>(x), 1, 0, &zero, y, 1, 0, 1));
  else
    check(cublasTSSgemvStridedBatched(h, op, m, n, &one, reinterpret_cast<const __nv_bfloat16*>(a), m, 0,
                                      reinterpret_cast<const __nv_bfloat16*>(x), 1, 0, &zero, y, 1, 0, 1));
}

} // namespace

const dense_ways* dense() {
  static constexpr dense_ways all{multiply<double>, multiply<float>, multiply<half>, multiply<bfloat16>};
  return &all;
}

/// Of the library that is loaded; touches no GPU.
std::string version() {
  int major = 0, minor = 0, patch = 0;
  check(cublasGetProperty(MAJOR_VERSION, &major));
  check(cublasGetProperty(MINOR_VERSION, &minor));
  check(cublasGetProperty(PATCH_LEVEL, &patch));
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

} // namespace furrow::bench::cublas_rival
