// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "launch.hpp"
#include "side_stream.hpp"

#include <optional>
#include <utility>

namespace furrow::gpu {

/// What a loop keeps beside the vectors.
struct loop_state {
  long long left;    ///< steps that this run may still make
  long long stopped; ///< `until` said so
};

static __global__ void set_steps_kernel(loop_state* state, long long steps) { *state = {steps, 0}; }

/// Ends a step of a loop that runs inside a graph.
template <class Until> __global__ void until_kernel(Until until, loop_state* state, runtime::loop_switch again) {
  take_turn();
  state->stopped = until();
  state->left -= 1;
  runtime::go_on(again, !state->stopped && state->left > 0);
}

/// Ends a step of a loop that the host drives.
template <class Until> __global__ void until_kernel(Until until, loop_state* state) {
  take_turn();
  state->stopped = until();
}

/// For a loop whose body is all of a step.
struct nothing_beside_it {
  void operator()() const {}
};

/// body, beside, until, body, beside, until, ... What is `beside` may run at the same time as `until`, which takes some
/// microseconds of one thread: it writes nothing that `until` reads, and reads nothing that it writes. The body is
/// recorded once into a graph with a WHILE node and runs there without the host; where the body waits itself and where
/// the driver has no such nodes the host drives the loop and waits after each step. What `may_be_refused` enqueues what
/// the driver may not take into such a graph, as a library does that waits for events or calls the host: then a step is
/// a graph, and the host waits between them.
template <class Body, class Until, class Beside = nothing_beside_it> class loop {
public:
  /// branches: `beside` is a branch of the graph; otherwise it goes before `until`.
  loop(Body body, Until until, bool waits, bool may_be_refused = false, Beside beside = {}, bool branches = false)
      : body_(body), until_(until), beside_(beside), waits_(waits), may_be_refused_(may_be_refused),
        branches_(branches), state_(1) {}
  loop(const loop&) = delete;
  ~loop() {
    if (graph_) runtime::end(graph_);
    if (recorded_) runtime::end(recorded_);
  }

  /// At most `steps` steps; true as soon as `until` said so. Waits.
  bool run(index_t steps) {
    if (steps < 1) return false;
    if (waits_ || !current_queue().graphs) return run_from_host(steps);
    if (!graph_) record();
    if (step_by_step_) return run_steps(steps);
    enqueue_steps(steps);
    return stopped();
  }

  /// The same for one whose `until` leaves its answer among what the caller fetches anyway: waits only where the host
  /// takes part.
  void start(index_t steps) {
    if (steps < 1) return;
    const bool in_graph = !waits_ && current_queue().graphs;
    if (in_graph && !graph_) record();
    if (in_graph && !step_by_step_) enqueue_steps(steps);
    else run(steps);
  }

private:
  void enqueue_steps(index_t steps) {
    const runtime::stream stream = current_queue().stream;
    set_steps_kernel<<<1, 1, 0, stream>>>(state_.data(), steps);
    check(runtime::enqueue(graph_, stream));
    check(runtime::last_failure());
  }
  void end_step() {
    beside_();
    void (*const ends)(Until, loop_state*) = until_kernel<Until>;
    launch(ends, 1, 1, 0, current_queue(), until_, state_.data());
  }
  void end_step(runtime::loop_switch again, const side_stream* side) {
    void (*const ends)(Until, loop_state*, runtime::loop_switch) = until_kernel<Until>;
    const queue main = current_queue();
    queue q = main;
    if (side) {
      side->fork(main);
      q.stream = side->get();
      q.early_launch = false; // it follows another stream
    } else beside_();
    launch(ends, 1, 1, 0, q, until_, state_.data(), again);
    if (!side) return;
    side->end();
    beside_();
    side->join(main);
  }

  void record() {
    runtime::loop_graph made;
    check(runtime::make_loop(&made));
    recorded_ = made.whole;
    {
      std::optional<side_stream> side;
      if (branches_) side.emplace();
      const recording here;
      check(runtime::begin_recording(here.stream(), made.body));
      record_step(here.stream(), [&] { end_step(made.again, side ? &*side : nullptr); });
    }
    const runtime::code code = runtime::make_ready(&graph_, recorded_);
    if (code == runtime::success || !may_be_refused_) {
      if (!may_be_refused_) check(runtime::end(std::exchange(recorded_, nullptr)));
      return check(code);
    }
    runtime::last_failure(); // which is no failure of the device
    graph_ = nullptr;
    check(runtime::end(std::exchange(recorded_, nullptr)));
    {
      const recording here;
      check(runtime::begin_recording(here.stream()));
      recorded_ = record_step(here.stream(), [&] { end_step(); });
    }
    check(runtime::make_ready(&graph_, recorded_));
    step_by_step_ = true;
  }

  /// The body and what follows it, until the recording that has begun ends: its graph.
  template <class Last> runtime::graph record_step(runtime::stream on, Last last) {
    runtime::graph made = nullptr;
    try {
      body_();
      last();
    } catch (...) {
      (void)runtime::end_recording(on, &made);
      throw;
    }
    check(runtime::end_recording(on, &made));
    return made;
  }

  bool run_steps(index_t steps) {
    for (index_t i = 0; i < steps; ++i) {
      check(runtime::enqueue(graph_, current_queue().stream));
      if (stopped()) return true;
    }
    return false;
  }

  bool run_from_host(index_t steps) {
    for (index_t i = 0; i < steps; ++i) {
      body_();
      end_step();
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
  Beside beside_;
  bool waits_, may_be_refused_, branches_;
  bool step_by_step_ = false; ///< the graph holds one step
  gpu_array<loop_state> state_;
  runtime::graph recorded_ = nullptr; ///< of a library, whose work may need it; null: none
  runtime::ready_graph graph_ = nullptr;
};

} // namespace furrow::gpu
