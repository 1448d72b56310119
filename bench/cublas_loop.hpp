// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/queue.hpp"

#include <cublas_v2.h>

#include <algorithm>

/// What loops of cuSPARSE and cuBLAS calls share: one handle with its scalars on the device, and a clock.
namespace furrow::bench::cublas_loop {

inline void check(cublasStatus_t s) {
  furrow::check(s == CUBLAS_STATUS_SUCCESS, fault::device, cublasGetStatusString(s));
}
inline void check(cudaError_t s) { gpu::check(s); }

inline cublasHandle_t library() {
  static const cublasHandle_t handle = [] {
    cublasHandle_t h{};
    check(cublasCreate(&h));
    check(cublasSetStream(h, gpu::current_queue().stream));
    check(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
    return h;
  }();
  return handle;
}

/// Seconds of one of `steps` calls of `step` after `begin`, all of them enqueued on the current stream.
template <class Begin, class Step> double seconds_of_a_step(index_t steps, Begin&& begin, Step&& step) {
  const auto stream = gpu::current_queue().stream;
  cudaEvent_t first, last;
  check(cudaEventCreate(&first));
  check(cudaEventCreate(&last));
  begin();
  for (index_t i = 0; i < std::min<index_t>(steps, 10); ++i) step(i);
  begin();
  check(cudaEventRecord(first, stream));
  for (index_t i = 0; i < steps; ++i) step(i);
  check(cudaEventRecord(last, stream));
  check(cudaEventSynchronize(last));
  float ms = 0;
  check(cudaEventElapsedTime(&ms, first, last));
  check(cudaEventDestroy(first));
  check(cudaEventDestroy(last));
  return ms * 1e-3 / double(steps);
}

/// The same, recorded once as a CUDA graph that never looks.
template <class Begin, class Step> double seconds_of_a_graph(index_t steps, Begin&& begin, Step&& step) {
  const auto stream = gpu::current_queue().stream;
  begin();
  cudaGraph_t recorded;
  cudaGraphExec_t graph;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  step(0);
  check(cudaStreamEndCapture(stream, &recorded));
  check(cudaGraphInstantiate(&graph, recorded, 0));
  const double seconds = seconds_of_a_step(steps, begin, [&](index_t) { check(cudaGraphLaunch(graph, stream)); });
  check(cudaGraphExecDestroy(graph));
  check(cudaGraphDestroy(recorded));
  return seconds;
}

} // namespace furrow::bench::cublas_loop
