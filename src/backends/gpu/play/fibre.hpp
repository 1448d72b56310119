// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <memory>

namespace furrow::play {

/// A flow of control with a stack of its own, beside that of its owner: `resume` runs it until it calls `leave` or its
/// function has returned, after which it can be `start`ed anew. Both belong to one thread of the system.
class fibre {
public:
  /// `stack` stays the caller's, and is large enough for what `start` is given: 64 KiB do for a kernel.
  fibre(std::byte* stack, std::size_t bytes);
  fibre(fibre&&) noexcept;
  ~fibre();

  /// The next `resume` begins with run(argument), which throws nothing. What ran before is forgotten, wherever it was.
  void start(void (*run)(void*), void* argument);
  void resume();
  /// Called on the fibre: back to behind `resume`.
  void leave();

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace furrow::play
