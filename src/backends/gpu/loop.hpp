// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

namespace furrow::gpu {

/// What a loop keeps beside the vectors.
struct loop_state {
  long long left;    ///< steps that this run may still make
  long long stopped; ///< `until` said so
};

static __global__ void set_steps_kernel(loop_state* state, long long steps) { *state = {steps, 0}; }

/// Ends a step of a loop that runs inside a graph.
template <class Until> __global__ void until_kernel(Until until, loop_state* state, cudaGraphConditionalHandle again) {
  state->stopped = until();
  state->left -= 1;
  cudaGraphSetConditional(again, !state->stopped && state->left > 0);
}

/// Ends a step of a loop that the host drives.
template <class Until> __global__ void until_kernel(Until until, loop_state* state) { state->stopped = until(); }

/// body, until, body, until, ... The body is recorded once into a graph with a WHILE node and runs there without the
/// host; where the body waits itself and where the driver has no such nodes the host drives the loop and waits after
/// each step.
template <class Body, class Until> class loop {
public:
  loop(Body body, Until until, bool waits) : body_(body), until_(until), waits_(waits), state_(1) {}
  loop(const loop&) = delete;
  ~loop() {
    if (graph_) cudaGraphExecDestroy(graph_);
  }

  /// At most `steps` steps; true as soon as `until` said so. Waits.
  bool run(index_t steps) {
    if (steps < 1) return false;
    if (waits_ || !current_queue().graphs) return run_from_host(steps);
    if (!graph_) record();
    const cudaStream_t stream = current_queue().stream;
    set_steps_kernel<<<1, 1, 0, stream>>>(state_.data(), steps);
    check(cudaGraphLaunch(graph_, stream));
    return stopped();
  }

private:
  void record() {
    cudaGraph_t whole = nullptr;
    check(cudaGraphCreate(&whole, 0));
    cudaGraphConditionalHandle again{};
    check(cudaGraphConditionalHandleCreate(&again, whole, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams params{};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = again;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddNode(&node, whole, nullptr, nullptr, 0, &params));
    cudaGraph_t body = params.conditional.phGraph_out[0];
    record_body(body, again);
    check(cudaGraphInstantiate(&graph_, whole, 0));
    check(cudaGraphDestroy(whole));
  }

  void record_body(cudaGraph_t into, cudaGraphConditionalHandle again) {
    const recording here;
    const auto end = [&] {
      cudaGraph_t same = nullptr;
      return cudaStreamEndCapture(here.stream(), &same);
    };
    check(cudaStreamBeginCaptureToGraph(here.stream(), into, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
    try {
      body_();
      until_kernel<<<1, 1, 0, here.stream()>>>(until_, state_.data(), again);
    } catch (...) {
      end();
      throw;
    }
    check(end());
  }

  bool run_from_host(index_t steps) {
    for (index_t i = 0; i < steps; ++i) {
      body_();
      until_kernel<<<1, 1, 0, current_queue().stream>>>(until_, state_.data());
      if (stopped()) return true;
    }
    return false;
  }

  bool stopped() {
    loop_state state{};
    copy_bytes(host_memory{}, &state, gpu_memory{}, state_.data(), sizeof state);
    check(cudaGetLastError());
    return state.stopped != 0;
  }

  Body body_;
  Until until_;
  bool waits_;
  gpu_array<loop_state> state_;
  cudaGraphExec_t graph_ = nullptr;
};

} // namespace furrow::gpu
