// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/device.hpp>
#include <furrow/view.hpp>

#include <array>
#include <string_view>

namespace furrow {

/// Who can read an address. Managed memory: both.
struct memory_place {
  bool host = true, gpu = false;
  int ordinal = 0; ///< whose it is, where `host` is false
};

/// Asks the driver of the GPU, in builds without a GPU part too; some 50 ns. Makes no context. A process without a
/// driver that was noticed has host memory alone.
memory_place place_of(const void* address);

/// Looks for a driver that the process has loaded since; loads none. By those who make kept objects, not by products:
/// it takes the lock of the dynamic loader, which would stay locked in the child of a fork.
void notice_gpu_driver();

/// A vector of a call, and its name for complaints.
struct placed {
  std::string_view name;
  memory_place at;
};

/// Whether the vectors of a call that runs on `where` lie in that GPU's memory; false: on the host. Throws
/// `fault::usage` for vectors of another GPU, for those of a GPU where the call runs on the CPU, and for one on either
/// side.
bool lie_on_gpu(device where, const std::array<placed, 2>& vectors);

/// The same for two vectors; an empty one lies where the other does.
template <class V>
bool lie_on_gpu(device where, std::string_view x_name, cview<V> x, std::string_view y_name, cview<V> y) {
  const void *const of_x = x.data, *const of_y = y.data;
  return lie_on_gpu(where, std::array{placed{x_name, place_of(x.empty() ? of_y : of_x)},
                                      placed{y_name, place_of(y.empty() ? of_x : of_y)}});
}

} // namespace furrow
