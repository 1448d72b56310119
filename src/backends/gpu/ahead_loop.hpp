// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

namespace furrow::gpu {

/// What a loop that runs ahead keeps beside the vectors.
struct ahead_state {
  long long stopped; ///< `until` said so
  long long beyond;  ///< steps enqueued behind that one
};

/// Ends a step whose followers are enqueued already. What `until` said stays.
template <class Until> __global__ void until_ahead_kernel(Until until, ahead_state* state) {
  if (state->stopped) state->beyond += 1;
  else state->stopped = until();
}

/// body, until, body, until, ... each enqueued by the host, which runs ahead of the device and waits at the end of a
/// run alone. So it cannot stop in the middle of one: the caller knows which step is the last, and ends a run there.
template <class Body, class Until> class ahead_loop {
public:
  ahead_loop(Body body, Until until) : body_(body), until_(until), state_(1) {}
  ahead_loop(const ahead_loop&) = delete;

  /// `steps` steps; true where `until` said so after the last of them. Waits. Throws `fault::usage` where it said so
  /// before: steps were made beyond the end.
  bool run(index_t steps) {
    if (steps < 1) return false;
    fill_bytes(state_, 0);
    for (index_t i = 0; i < steps; ++i) {
      body_();
      until_ahead_kernel<<<1, 1, 0, current_queue().stream>>>(until_, state_.data());
    }
    ahead_state state{};
    copy_bytes(host_memory{}, &state, gpu_memory{}, state_.data(), sizeof state);
    check(runtime::last_failure());
    furrow::check(state.beyond == 0, fault::usage,
                  "the host enqueued steps beyond the last one: end the chunk where the method ends");
    return state.stopped != 0;
  }

private:
  Body body_;
  Until until_;
  gpu_array<ahead_state> state_;
};

} // namespace furrow::gpu
