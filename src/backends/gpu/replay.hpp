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
    bool recorded = false;
    check(runtime::is_recorded(stream, &recorded));
    if (recorded || arguments_ != arguments) {
      forget();
      arguments_ = arguments;
      return enqueue();
    }
    if (!graph_) record(enqueue);
    check(runtime::enqueue(graph_, stream));
  }

  /// The memory that the work uses has moved.
  void forget() {
    if (graph_) runtime::end(graph_);
    graph_ = nullptr;
    arguments_.reset();
  }

private:
  template <class F> void record(F enqueue) {
    runtime::graph graph = nullptr;
    {
      const recording here;
      check(runtime::begin_recording(here.stream()));
      try {
        enqueue();
      } catch (...) {
        runtime::end_recording(here.stream(), &graph);
        if (graph) runtime::end(graph);
        throw;
      }
      check(runtime::end_recording(here.stream(), &graph));
    }
    const runtime::code made = runtime::make_ready(&graph_, graph);
    runtime::end(graph);
    check(made);
  }
  std::optional<Arguments> arguments_;
  runtime::ready_graph graph_ = nullptr;
};

} // namespace furrow::gpu
