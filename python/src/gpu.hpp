// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "support.hpp"

#include <furrow/device.hpp>

#include <cstdint>
#include <optional>
#include <type_traits>

/// What is different on a GPU: streams of the caller, and calls that wait for their turn.
namespace furrow::python {

/// A GPU by its number; below 0 the CPU.
inline device device_at(int ordinal) { return ordinal < 0 ? device{} : device{device::kind::gpu, ordinal}; }

/// A `cudaStream_t` of the caller as a number; none: the vectors are in host memory.
using stream = std::optional<std::uintptr_t>;

/// f() on a stream of the caller; without one, on the library's own. Without the interpreter's lock: a call on a GPU
/// waits for its turn, which may be that of another thread, which waits for the lock.
template <class F> auto on_stream(device where, stream s, F f) {
  std::optional<execution_scope> mine;
  if (s) mine.emplace(execution{where, reinterpret_cast<void*>(*s)});
  return f();
}

/// f() as `interruptible` where it takes long; without the interpreter's lock on a GPU; otherwise at once.
template <class F> auto at_length(bool is_long, device where, F f) {
  if (is_long) return interruptible(std::move(f));
  std::optional<without_lock> unlocked;
  if (where.is_gpu()) unlocked.emplace();
  return f();
}
inline constexpr index_t long_entries = 100000; ///< a set-up of more takes milliseconds

/// A vector of the caller for work on a GPU: where it lies there, or a copy of what host memory holds. T: V, or const
/// V.
template <class T> class on_gpu {
public:
  /// `is_there`: the memory is the GPU's. `read`: what it holds is wanted.
  on_gpu(view<T> given, bool is_there, bool read = true)
      : given_(given), copy_(is_there ? 0 : given.size), is_there_(is_there) {
    if (!is_there && read) copy_bytes(gpu_memory{}, copy_.data(), host_memory{}, given.data, copy_.byte_count());
  }
  view<T> there() { return is_there_ ? given_ : view<T>(copy_.data(), copy_.size()); }
  void bring_home() const {
    if (!is_there_) copy_bytes(host_memory{}, given_.data, gpu_memory{}, copy_.data(), copy_.byte_count());
  }

private:
  view<T> given_;
  gpu_array<std::remove_const_t<T>> copy_;
  bool is_there_;
};

void bind_gpu(nb::module_& m);

} // namespace furrow::python
