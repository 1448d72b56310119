// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "report.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

/// A machine that plays kernels: threads are fibres, the lanes of a warp take turns up to where they meet (a shuffle,
/// a barrier), warps and blocks take turns in an order that can be chosen, and every access to an array is seen.
namespace furrow::play {

struct size3 {
  unsigned x = 1, y = 1, z = 1;
};

class machine {
public:
  explicit machine(const settings& how = {});
  machine(const machine&) = delete;
  ~machine();

  /// An array of the device, `data` in host memory, under the name that reports give it. A kernel touches nothing
  /// else but its parameters and what its blocks share.
  template <class T> void add(std::string name, view<const T> a) {
    add(std::move(name), a.data, a.size, sizeof(T), false);
  }
  template <class T> void add(std::string name, view<T> a) { add(std::move(name), a.data, a.size, sizeof(T), true); }

  /// Runs `body` as every thread of every block. What is wrong ends up in the report; where a thread can only wait for
  /// ever, or touches what is in no array, the kernel ends there. Throws what `body` throws.
  kernel_report play(std::string kernel, size3 grid, int threads, const std::function<void()>& body);

  struct impl;

private:
  void add(std::string name, const void* data, index_t elements, int element_bytes, bool writable);
  std::unique_ptr<impl> impl_;
};

/// The thread that is played: what a kernel knows of itself.
struct player {
  size3 thread{0, 0, 0}, block{0, 0, 0}, block_size, grid;
  int wave = 32, rank = 0; ///< its lane
  std::uintptr_t stack = 0;
  std::size_t stack_bytes = 0;
};
extern thread_local constinit player* running; ///< null between threads

/// What lies on the stack of the thread that runs is its own, and no access to memory.
inline bool is_own(const void* at) {
  return !running || reinterpret_cast<std::uintptr_t>(at) - running->stack < running->stack_bytes;
}

/// The thread that runs reads or writes an element. Called from the kernel itself, not from a function that several
/// places of it share: where it is called from tells which instruction it is.
void touch(const void* at, bool stores);

/// __syncthreads, and __syncwarp for the lanes of `mask`.
void wait_for_block();
void wait_for_lanes(std::uint64_t mask);

/// `bytes` <= 16 bytes at `value` become those that lane `source` of the warp brings. All lanes of `mask` must call.
void exchange(void* value, int bytes, std::uint64_t mask, int source);

/// Room that the threads of a block share.
void* share(const char* name, index_t elements, int element_bytes);

} // namespace furrow::play
