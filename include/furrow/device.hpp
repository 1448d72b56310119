// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace furrow {

/// Where work runs.
struct device {
  enum class kind { cpu, gpu } what = kind::cpu;
  int ordinal = 0; ///< which GPU; 0 for the CPU

  bool is_gpu() const { return what == kind::gpu; }
  friend bool operator==(device, device) = default;
};

/// What one GPU says of itself.
struct gpu_info {
  std::string name;
  int ordinal = 0, major = 0, minor = 0, multiprocessors = 0;
  int lanes = 32; ///< lanes that run together: 32 on NVIDIA hardware
  std::int64_t memory_bytes = 0, free_bytes = 0, l2_bytes = 0;
  bool graphs = false; ///< the driver runs loops inside graphs (WHILE nodes)
};

/// How this library was built and what it finds. Never throws; `problem` says why there is no GPU to use.
struct gpu_status {
  bool built = false; ///< this build has GPU code
  std::string problem;
  std::string runtime_version, driver_version;
  std::vector<gpu_info> gpus;
};
gpu_status inspect_gpus();

/// "auto", "cpu", "gpu" or "gpu:N". `auto` is the first GPU where there is one, otherwise the CPU.
/// Throws `fault::usage` for other words and `fault::device`, with the reason, where that GPU is not to be had.
device parse_device(std::string_view text);

/// "cpu", or "gpu:0 (NVIDIA H200)".
std::string describe(device d);

/// Makes `d` the device of this thread: operators, arrays and spaces made afterwards belong to it.
void select_device(device d);

/// The stream, a `cudaStream_t`, on which everything on GPU `d` is enqueued by this thread now; null for the CPU.
void* current_stream(device d);

/// Bytes that this library has copied between the memories of the host and of GPU `d` in this process so far: matrices,
/// vectors, and what a solver reads to know how far it is. 0 for the CPU.
std::int64_t copied_bytes(device d);

/// A stream of the caller's, a `cudaStream_t`; null is CUDA's legacy stream.
struct execution {
  device where;
  void* stream = nullptr;
};

/// While it lives, everything that this thread does on that GPU is enqueued on that stream. It begins behind what was
/// enqueued on our own stream before, and what comes there later begins behind it. Scopes of a thread nest and end in
/// the thread. A stream that records a graph records what is enqueued, and is not joined. Throws `fault::usage` for a
/// stream of another device.
class execution_scope {
public:
  explicit execution_scope(const execution& e);
  execution_scope(const execution_scope&) = delete;
  execution_scope& operator=(const execution_scope&) = delete;
  ~execution_scope();
  struct impl;

private:
  std::unique_ptr<impl> impl_;
};

/// Threads that the CPU part uses. 0 means all that the process may use.
void set_threads(int threads);
int threads();

/// Large arrays in host memory leave up to that many bytes of pages to the next ones when they end, 128 MiB where
/// nothing is said: fresh pages would have to be cleared. 0 gives everything back to the system at once.
void keep_host_memory(std::int64_t bytes);

/// The library's arrays on a GPU leave up to that many bytes of its memory to the next ones when they end, an eighth of
/// what the GPU has where nothing is said, for its driver takes a millisecond and more for each gigabyte that comes and
/// goes. 0 gives everything back at once, and less than 0 is an eighth again. Holds for every GPU. Waits for what is
/// enqueued.
void keep_gpu_memory(std::int64_t bytes);

/// Bytes of host memory, and of the memory of GPU `ordinal`, that can still be had: what the library keeps counts among
/// them. Respects the limits of a container.
std::int64_t available_host_memory();
std::int64_t available_gpu_memory(int ordinal);

} // namespace furrow
