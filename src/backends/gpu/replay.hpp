// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

#include <optional>

namespace furrow::gpu {

/// Work that is often enqueued again with the same arguments: from the second time on it is one graph, whose kernels
/// follow each other without the host. Arguments: what the work depends on beside its owner, comparable.
template <class Arguments> class replay {
public:
  replay() = default;
  replay(const replay&) = delete;
  ~replay() { forget(); }

  template <class F> void run(const Arguments& arguments, F enqueue) {
    const auto stream = current_queue().stream;
    cudaStreamCaptureStatus status{};
    check(cudaStreamIsCapturing(stream, &status));
    if (status != cudaStreamCaptureStatusNone || arguments_ != arguments) {
      forget();
      arguments_ = arguments;
      return enqueue();
    }
    if (!graph_) record(enqueue);
    check(cudaGraphLaunch(graph_, stream));
  }

  /// The memory that the work uses has moved.
  void forget() {
    if (graph_) cudaGraphExecDestroy(graph_);
    graph_ = nullptr;
    arguments_.reset();
  }

private:
  template <class F> void record(F enqueue) {
    cudaGraph_t graph = nullptr;
    {
      const recording here;
      check(cudaStreamBeginCapture(here.stream(), cudaStreamCaptureModeThreadLocal));
      try {
        enqueue();
      } catch (...) {
        cudaStreamEndCapture(here.stream(), &graph);
        if (graph) cudaGraphDestroy(graph);
        throw;
      }
      check(cudaStreamEndCapture(here.stream(), &graph));
    }
    const cudaError_t made = cudaGraphInstantiate(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    check(made);
  }
  std::optional<Arguments> arguments_;
  cudaGraphExec_t graph_ = nullptr;
};

} // namespace furrow::gpu
