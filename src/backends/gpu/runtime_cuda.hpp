// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string>

/// The GPU runtime as kernels and their callers spell it: names of the vendor's stand in this file and in no other
/// (tests/vendor_names.py), but for libraries that are loaded late. A HIP build includes a header of the same names
/// instead.
static_assert(__cplusplus >= 202002L, "CMake 3.25 drops the standard for nvcc 13: -std=c++20 must be given by hand");

namespace furrow::gpu {

/// Lanes that run together.
inline constexpr int warp = 32;

#if defined(__CUDACC__)
/// The lanes of this thread's group of W.
template <int W> __device__ inline unsigned group_mask() {
  if constexpr (W == warp) return 0xffffffffu;
  else return ((1u << W) - 1u) << (threadIdx.x % warp / W * W);
}

/// The value of the lane of this rank in the same group of W. All lanes of the group must call.
template <int W, class T> __device__ T from_lane(T value, int rank) {
  return __shfl_sync(group_mask<W>(), value, rank, W);
}

/// The value of the lane `distance` further on in the same group of W. All lanes of the group must call.
template <int W, class T> __device__ T from_lane_above(T value, int distance) {
  return __shfl_down_sync(group_mask<W>(), value, distance, W);
}

/// The value of the lane `distance` before this one in the same group of W; the first ones keep their own. All lanes of
/// the group must call.
template <int W, class T> __device__ T from_lane_below(T value, int distance) {
  return __shfl_up_sync(group_mask<W>(), value, distance, W);
}

/// The value of the lane of the same group of W whose rank differs in the bit `distance`. All lanes of the group must
/// call.
template <int W, class T> __device__ T from_lane_across(T value, int distance) {
  return __shfl_xor_sync(group_mask<W>(), value, distance, W);
}
#endif

/// What the host asks of it. Calls answer a `code`, which `gpu::check` turns into an exception.
namespace runtime {

using code = cudaError_t;
using stream = cudaStream_t;
using pool = cudaMemPool_t; ///< of memory that is taken and released in the order of a stream

/// How a kernel is started.
struct launch_plan {
  dim3 grid, block;
  std::size_t shared_bytes = 0;
  stream on = nullptr;
  bool early = false;    ///< it may come while the kernel before it ends (`gpu::launch`)
  bool together = false; ///< all blocks are on the device at the same time, or none
};

/// Enqueues kernel(arguments...).
template <class... P, class... A> code start(void (*kernel)(P...), const launch_plan& how, const A&... arguments);

#if !defined(FURROW_PLAYED)

inline constexpr code success = cudaSuccess, out_of_memory = cudaErrorMemoryAllocation,
                      old_driver = cudaErrorInsufficientDriver;
inline const char* text_of(code c) { return cudaGetErrorString(c); }
/// The code of what went wrong last, which is forgotten.
inline code last_failure() { return cudaGetLastError(); }
/// For a failure that is an answer: it does not stay with the thread, where the next call of CUB or a launch would take
/// it for its own.
inline bool works(code c) {
  if (c != success) last_failure();
  return c == success;
}

// Versions, as 1000 * major + 10 * minor, and devices.
inline code driver_version(int* v) { return cudaDriverGetVersion(v); }
inline code runtime_version(int* v) { return cudaRuntimeGetVersion(v); }
inline constexpr int with_while_nodes = 12040; ///< the first driver whose graphs have loops
inline code count_devices(int* count) { return cudaGetDeviceCount(count); }
inline code chosen_device(int* ordinal) { return cudaGetDevice(ordinal); }
inline code choose_device(int ordinal) { return cudaSetDevice(ordinal); }
enum class property {
  multiprocessors = cudaDevAttrMultiProcessorCount,
  cache_bytes = cudaDevAttrL2CacheSize,
  major_capability = cudaDevAttrComputeCapabilityMajor,
  block_shared_bytes = cudaDevAttrMaxSharedMemoryPerBlockOptin,
  shared_bytes = cudaDevAttrMaxSharedMemoryPerMultiprocessor,
  memory_kilohertz = cudaDevAttrMemoryClockRate,
  bus_bits = cudaDevAttrGlobalMemoryBusWidth,
  kilohertz = cudaDevAttrClockRate,
};
inline code ask(property what, int ordinal, int* value) {
  return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(what), ordinal);
}
/// What is said of a device to people.
struct description {
  std::string name;
  int major = 0, minor = 0, multiprocessors = 0, lanes = 0, cache_bytes = 0;
  std::size_t memory_bytes = 0;
};
inline code describe(int ordinal, description* to) {
  cudaDeviceProp p{};
  const code c = cudaGetDeviceProperties(&p, ordinal);
  if (c == success)
    *to = {p.name, p.major, p.minor, p.multiProcessorCount, p.warpSize, p.l2CacheSize, p.totalGlobalMem};
  return c;
}
/// Where the device is in its machine, as a text: the same for every process there.
inline code place_on_bus(char* text, int room, int ordinal) { return cudaDeviceGetPCIBusId(text, room, ordinal); }

// Memory.
inline code make_pool(int ordinal, pool* made) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = ordinal;
  return cudaMemPoolCreate(made, &properties);
}
/// Released bytes that stay with the process.
inline code keep_released(pool from, std::uint64_t bytes) {
  return cudaMemPoolSetAttribute(from, cudaMemPoolAttrReleaseThreshold, &bytes);
}
/// Lets no stream wait for what another one has released; memory of others is taken when they are known to be done.
inline code never_wait_for_others(pool p) {
  int no = 0;
  return cudaMemPoolSetAttribute(p, cudaMemPoolReuseAllowInternalDependencies, &no);
}
/// Bytes that a pool has from the driver, those in use and those that were released.
inline code bytes_of(pool from, std::uint64_t* bytes) {
  return cudaMemPoolGetAttribute(from, cudaMemPoolAttrReservedMemCurrent, bytes);
}
inline code bytes_in_use(pool from, std::uint64_t* bytes) {
  return cudaMemPoolGetAttribute(from, cudaMemPoolAttrUsedMemCurrent, bytes);
}
/// To the driver, all that is not in use.
inline code give_back(pool from) { return cudaMemPoolTrimTo(from, 0); }
inline code take(void** data, std::size_t bytes, pool from, stream s) {
  return cudaMallocFromPoolAsync(data, bytes, from, s);
}
inline code release(void* data, stream s) { return cudaFreeAsync(data, s); }
/// Whether kernels on one device may read and write memory of another one.
inline code reaches(int* yes, int ordinal, int other) { return cudaDeviceCanAccessPeer(yes, ordinal, other); }
/// Lets kernels on that device read and write the memory of a pool.
inline code open_to(pool p, int ordinal) {
  cudaMemAccessDesc who{};
  who.location.type = cudaMemLocationTypeDevice;
  who.location.id = ordinal;
  who.flags = cudaMemAccessFlagsProtReadWrite;
  return cudaMemPoolSetAccess(p, &who, 1);
}
inline code end(pool p) { return cudaMemPoolDestroy(p); }
/// For good, and at once.
template <class T> code take_for_good(T** data, std::size_t bytes) { return cudaMalloc(data, bytes); }
/// Host memory that every device reads and writes by itself.
inline code take_pinned(void** data, std::size_t bytes) { return cudaHostAlloc(data, bytes, cudaHostAllocPortable); }
inline code release_pinned(void* data) { return cudaFreeHost(data); }
inline code memory_left(std::size_t* available, std::size_t* total) { return cudaMemGetInfo(available, total); }
/// Whether the driver knows nothing of host memory at `data`.
inline bool is_pageable(const void* data) {
  cudaPointerAttributes known{};
  const bool asked = cudaPointerGetAttributes(&known, data) == cudaSuccess;
  if (!asked) cudaGetLastError();
  return !asked || known.type == cudaMemoryTypeUnregistered;
}
enum class way {
  to_device = cudaMemcpyHostToDevice,
  to_host = cudaMemcpyDeviceToHost,
  inside = cudaMemcpyDeviceToDevice
};
inline code copy(void* to, const void* from, std::size_t bytes, way w, stream s) {
  return cudaMemcpyAsync(to, from, bytes, static_cast<cudaMemcpyKind>(w), s);
}
inline code fill(void* data, int byte, std::size_t bytes, stream s) { return cudaMemsetAsync(data, byte, bytes, s); }

// Streams and events.
using event = cudaEvent_t;
/// One that the legacy stream does not wait for.
inline code make_stream(stream* s) { return cudaStreamCreateWithFlags(s, cudaStreamNonBlocking); }
inline code wait(stream s) { return cudaStreamSynchronize(s); }
inline code end(stream s) { return cudaStreamDestroy(s); } ///< once it is over
inline bool is_legacy(stream s) { return s == nullptr || s == cudaStreamLegacy; }
/// The device of a stream; -1 where the runtime cannot say.
inline code device_of(stream s, int* ordinal) {
#if CUDART_VERSION >= 12080
  return cudaStreamGetDevice(s, ordinal);
#else
  *ordinal = -1;
  return success;
#endif
}
inline code make_event(event* e) { return cudaEventCreateWithFlags(e, cudaEventDisableTiming); }
inline code make_timed_event(event* e) { return cudaEventCreate(e); }
inline code end(event e) { return cudaEventDestroy(e); } ///< once it is over
inline code record(event e, stream s) { return cudaEventRecord(e, s); }
inline code wait(event e) { return cudaEventSynchronize(e); }
inline constexpr code not_ready = cudaErrorNotReady;
/// success where all is done that was enqueued before it was recorded, not_ready, or what went wrong.
inline code look_at(event e) {
  const code c = cudaEventQuery(e);
  if (c == not_ready) last_failure();
  return c;
}
/// What is enqueued on `s` from now on follows e.
inline code follow(stream s, event e) { return cudaStreamWaitEvent(s, e, 0); }
inline code milliseconds_between(event begin, event end, float* time) { return cudaEventElapsedTime(time, begin, end); }

// Graphs: what a stream is given is recorded, and enqueued as one later.
using graph = cudaGraph_t;
using ready_graph = cudaGraphExec_t;
inline code is_recorded(stream s, bool* yes) {
  cudaStreamCaptureStatus status{};
  const code c = cudaStreamIsCapturing(s, &status);
  *yes = status != cudaStreamCaptureStatusNone;
  return c;
}
inline code begin_recording(stream s) { return cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal); }
inline code begin_recording(stream s, graph into) {
  return cudaStreamBeginCaptureToGraph(s, into, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal);
}
inline code end_recording(stream s, graph* recorded) { return cudaStreamEndCapture(s, recorded); }
inline code make_ready(ready_graph* to, graph g) { return cudaGraphInstantiate(to, g, 0); }
inline code enqueue(ready_graph g, stream s) { return cudaGraphLaunch(g, s); }
inline code end(graph g) { return cudaGraphDestroy(g); }
inline code end(ready_graph g) { return cudaGraphExecDestroy(g); }
/// A graph of one loop, whose body is to be recorded, and what says whether the loop goes on.
using loop_switch = cudaGraphConditionalHandle;
struct loop_graph {
  graph whole = nullptr, body = nullptr;
  loop_switch again{};
};
inline code make_loop(loop_graph* made) {
  cudaGraphNodeParams params{};
  params.type = cudaGraphNodeTypeConditional;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 1;
  code c = cudaGraphCreate(&made->whole, 0);
  if (c != success) return c;
  c = cudaGraphConditionalHandleCreate(&made->again, made->whole, 1, cudaGraphCondAssignDefault);
  if (c != success) return c;
  params.conditional.handle = made->again;
  cudaGraphNode_t node = nullptr;
  c = cudaGraphAddNode(&node, made->whole, nullptr, nullptr, 0, &params);
  if (c == success) made->body = params.conditional.phGraph_out[0];
  return c;
}

#if defined(__CUDACC__)
/// In a kernel at the end of a loop's body.
__device__ inline void go_on(loop_switch again, bool yes) { cudaGraphSetConditional(again, yes); }

template <class... P, class... A> code start(void (*kernel)(P...), const launch_plan& how, const A&... arguments) {
  cudaLaunchAttribute asked[2]{};
  cudaLaunchConfig_t config{};
  config.gridDim = how.grid;
  config.blockDim = how.block;
  config.dynamicSmemBytes = how.shared_bytes;
  config.stream = how.on;
  config.attrs = asked;
  if (how.early) {
    asked[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    asked[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
  }
  if (how.together) {
    asked[config.numAttrs].id = cudaLaunchAttributeCooperative;
    asked[config.numAttrs++].val.cooperative = 1;
  }
  return cudaLaunchKernelEx(&config, kernel, P(arguments)...);
}

/// Lets a block of the kernel have so many bytes that threads share, in the whole process from here on.
template <class Kernel> code allow_shared_bytes(Kernel kernel, int bytes) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
/// Blocks of the kernel that a multiprocessor runs at a time.
template <class Kernel> code resident_blocks(int* blocks, Kernel kernel, int threads, std::size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared_bytes);
}
#endif

#endif

} // namespace runtime

} // namespace furrow::gpu
