// SPDX-License-Identifier: BSD-3-Clause
// What the GPU part answers in a build without it.
#if !FURROW_HAS_GPU
#include "backends/turn.hpp"

#include "core/gpu_room.hpp"

#include <furrow/array.hpp>
#include <furrow/device.hpp>
#include <furrow/function_operator.hpp>

namespace furrow {
namespace {
constexpr const char* reason = "this build has no GPU part: it was compiled without nvcc";
}

void* gpu_memory::allocate(std::size_t) { throw error(fault::device, reason); }
void gpu_memory::release(void*, std::size_t) noexcept {}
void gpu_memory::copy(void*, const void*, std::size_t) { throw error(fault::device, reason); }
void copy_bytes(host_memory, void*, gpu_memory, const void*, std::size_t) { throw error(fault::device, reason); }
void copy_bytes(gpu_memory, void*, host_memory, const void*, std::size_t) { throw error(fault::device, reason); }
void fill_elements(gpu_memory, void*, const void*, std::size_t, index_t) { throw error(fault::device, reason); }

gpu_status inspect_gpus() {
  gpu_status s;
  s.problem = reason;
  return s;
}

void select_device(device d) { check(!d.is_gpu(), fault::device, reason); }
void* current_stream(device d) {
  select_device(d);
  return nullptr;
}
std::int64_t copied_bytes(device d) {
  select_device(d);
  return 0;
}
void keep_gpu_memory(std::int64_t) {}
std::int64_t available_gpu_memory(int) { return 0; }
bool gpu_takes(int, double) { return false; }
std::string gpu_name(int) { return {}; }

struct execution_scope::impl {};
execution_scope::execution_scope(const execution& e) {
  select_device(e.where);
  check(!e.stream, fault::usage, "the CPU has no streams: give a GPU, or no stream");
}
execution_scope::~execution_scope() = default;

struct driven_by_host::impl {};
driven_by_host::driven_by_host(device where) { select_device(where); }
driven_by_host::~driven_by_host() = default;

turn::turn(device where) : where_(where) { select_device(where); }
turn::~turn() = default;

} // namespace furrow
#endif
