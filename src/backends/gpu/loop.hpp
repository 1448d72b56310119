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
template <class Until> __global__ void until_kernel(Until until, loop_state* state, runtime::loop_switch again) {
  state->stopped = until();
  state->left -= 1;
  runtime::go_on(again, !state->stopped && state->left > 0);
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
    if (graph_) runtime::end(graph_);
  }

  /// At most `steps` steps; true as soon as `until` said so. Waits.
  bool run(index_t steps) {
    if (steps < 1) return false;
    if (waits_ || !current_queue().graphs) return run_from_host(steps);
    if (!graph_) record();
    const runtime::stream stream = current_queue().stream;
    set_steps_kernel<<<1, 1, 0, stream>>>(state_.data(), steps);
    check(runtime::enqueue(graph_, stream));
    return stopped();
  }

private:
  void record() {
    runtime::loop_graph made;
    check(runtime::make_loop(&made));
    record_body(made.body, made.again);
    check(runtime::make_ready(&graph_, made.whole));
    check(runtime::end(made.whole));
  }

  void record_body(runtime::graph into, runtime::loop_switch again) {
    const recording here;
    const auto end = [&] {
      runtime::graph same = nullptr;
      return runtime::end_recording(here.stream(), &same);
    };
    check(runtime::begin_recording(here.stream(), into));
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
    check(runtime::last_failure());
    return state.stopped != 0;
  }

  Body body_;
  Until until_;
  bool waits_;
  gpu_array<loop_state> state_;
  runtime::ready_graph graph_ = nullptr;
};

} // namespace furrow::gpu
