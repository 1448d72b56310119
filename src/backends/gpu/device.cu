// SPDX-License-Identifier: BSD-3-Clause
#include "queue.hpp"

#include "core/environment.hpp"

#include <furrow/device.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

namespace furrow {
namespace gpu {
namespace {

thread_local int selected = 0;

bool loops_in_graphs() {
  int driver = 0;
  const std::string_view wish = environment("FURROW_GRAPHS");
  if (wish == "off") return false;
  if (!wish.empty()) refuse_environment("FURROW_GRAPHS", "choose off, or leave it unset");
  return cudaDriverGetVersion(&driver) == cudaSuccess && driver >= 12040; // WHILE nodes
}

/// Released bytes that stay with the process: small vectors come and go without the driver, large blocks go back.
constexpr std::uint64_t usual_bytes = std::uint64_t(256) << 20;

cudaError_t keep_released(int ordinal, std::uint64_t bytes) {
  cudaMemPool_t pool;
  const cudaError_t code = cudaDeviceGetDefaultMemPool(&pool, ordinal);
  return code == cudaSuccess ? cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes) : code;
}

std::unique_ptr<queue> open(int ordinal) {
  auto q = std::make_unique<queue>();
  check(cudaSetDevice(ordinal));
  q->ordinal = ordinal;
  check(cudaDeviceGetAttribute(&q->multiprocessors, cudaDevAttrMultiProcessorCount, ordinal));
  check(cudaDeviceGetAttribute(&q->cache_bytes, cudaDevAttrL2CacheSize, ordinal));
  q->graphs = loops_in_graphs();
  int capability = 0;
  check(cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, ordinal));
  q->early_launch = q->clusters = capability >= 9;
  check(cudaStreamCreateWithFlags(&q->stream, cudaStreamNonBlocking));
  check(cudaMalloc(&q->partial, sizeof(double) * static_cast<std::size_t>(q->max_blocks()) * max_sums));
  check(cudaMalloc(&q->arrived, sizeof(unsigned)));
  check(cudaMemset(q->arrived, 0, sizeof(unsigned)));
  check(keep_released(ordinal, usual_bytes));
  return q;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

} // namespace

void check(cudaError_t code, std::source_location at) {
  if (code == cudaSuccess) return;
  cudaGetLastError();
  const fault kind = code == cudaErrorMemoryAllocation ? fault::memory : fault::device;
  throw error(kind, std::string(at.file_name()) + ":" + std::to_string(at.line()) +
                        ": the GPU says: " + cudaGetErrorString(code));
}

namespace {

/// The queue of a device, which is opened once.
queue& queue_of(int ordinal) {
  static std::mutex guard;
  static std::map<int, std::unique_ptr<queue>> open_queues;
  const std::lock_guard lock(guard);
  auto& q = open_queues[ordinal];
  if (!q) q = open(ordinal);
  return *q;
}

} // namespace

queue& current_queue() {
  thread_local queue* mine = nullptr; // what every call would find
  if (!mine || mine->ordinal != selected) mine = &queue_of(selected);
  int now = -1; // another library may have chosen another device meanwhile; to ask is quicker than to choose
  if (cudaGetDevice(&now) != cudaSuccess || now != selected) check(cudaSetDevice(selected));
  return *mine;
}

void wait(const queue& q) { check(cudaStreamSynchronize(q.stream)); }

memory_kept::memory_kept() : ordinal_(current_queue().ordinal) { check(keep_released(ordinal_, ~std::uint64_t(0))); }
memory_kept::~memory_kept() { (void)keep_released(ordinal_, usual_bytes); }

} // namespace gpu

void* gpu_memory::allocate(std::size_t bytes) {
  gpu::queue& q = gpu::current_queue();
  void* data = nullptr;
  bytes = (bytes + gpu::padding - 1) / gpu::padding * gpu::padding;
  const cudaError_t code = cudaMallocAsync(&data, bytes, q.stream);
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw error(fault::memory, std::to_string(bytes) + " bytes of GPU memory cannot be had (" +
                                   std::to_string(available_gpu_memory(q.ordinal)) +
                                   " are free on gpu:" + std::to_string(q.ordinal) + ")");
  }
  gpu::check(code);
  return data;
}

void gpu_memory::release(void* data, std::size_t) noexcept {
  try {
    cudaFreeAsync(data, gpu::current_queue().stream);
  } catch (const error&) {
  } // the device is gone, and its memory with it
}

void gpu_memory::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes) gpu::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, gpu::current_queue().stream));
}

void copy_bytes(host_memory, void* to, gpu_memory, const void* from, std::size_t bytes) {
  if (!bytes) return;
  gpu::queue& q = gpu::current_queue();
  gpu::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, q.stream));
  q.moved += static_cast<std::int64_t>(bytes);
  gpu::wait(q);
}

void copy_bytes(gpu_memory, void* to, host_memory, const void* from, std::size_t bytes) {
  if (!bytes) return;
  gpu::queue& q = gpu::current_queue();
  gpu::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, q.stream));
  q.moved += static_cast<std::int64_t>(bytes);
  gpu::wait(q); // the source may go away
}

gpu_status inspect_gpus() {
  gpu_status s;
  s.built = true;
  int runtime = 0, driver = 0, count = 0;
  if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) s.runtime_version = gpu::version_text(runtime);
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0) s.driver_version = gpu::version_text(driver);
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess || count == 0) {
    cudaGetLastError();
    s.problem = driver == 0           ? "no NVIDIA driver is loaded"
                : code != cudaSuccess ? cudaGetErrorString(code)
                                      : "there is none";
    return s;
  }
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp p{};
    if (cudaGetDeviceProperties(&p, i) != cudaSuccess) continue;
    gpu_info g;
    g.name = p.name;
    g.ordinal = i;
    g.major = p.major;
    g.minor = p.minor;
    g.multiprocessors = p.multiProcessorCount;
    g.lanes = p.warpSize;
    g.memory_bytes = static_cast<std::int64_t>(p.totalGlobalMem);
    g.free_bytes = available_gpu_memory(i);
    g.l2_bytes = p.l2CacheSize;
    g.graphs = gpu::loops_in_graphs();
    s.gpus.push_back(g);
  }
  return s;
}

void select_device(device d) {
  if (!d.is_gpu()) return;
  gpu::selected = d.ordinal;
  gpu::current_queue();
}

void* current_stream(device d) {
  if (!d.is_gpu()) return nullptr;
  select_device(d);
  return gpu::current_queue().stream;
}

std::int64_t available_gpu_memory(int ordinal) {
  int before = 0;
  std::size_t available = 0, total = 0;
  if (cudaGetDevice(&before) != cudaSuccess) return 0;
  const bool known = cudaSetDevice(ordinal) == cudaSuccess && cudaMemGetInfo(&available, &total) == cudaSuccess;
  cudaSetDevice(before);
  return known ? static_cast<std::int64_t>(available) : 0;
}

} // namespace furrow
