// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "queue.hpp"

namespace furrow::gpu {

/// A stream beside a queue's own: what it gets between `fork` and `end` follows what that one has, and what that one
/// gets behind `join` follows both. In a graph that is recorded it is a branch.
class side_stream {
public:
  side_stream() {
    check(runtime::make_stream(&stream_));
    check(runtime::make_event(&fork_));
    check(runtime::make_event(&join_));
  }
  side_stream(const side_stream&) = delete;
  ~side_stream() {
    runtime::wait(stream_);
    runtime::end(join_), runtime::end(fork_), runtime::end(stream_);
  }
  runtime::stream get() const { return stream_; }
  void fork(const queue& from) const {
    check(runtime::record(fork_, from.stream));
    check(runtime::follow(stream_, fork_));
  }
  void end() const { check(runtime::record(join_, stream_)); }
  void join(const queue& to) const { check(runtime::follow(to.stream, join_)); }

private:
  runtime::stream stream_ = nullptr;
  runtime::event fork_ = nullptr, join_ = nullptr;
};

} // namespace furrow::gpu
