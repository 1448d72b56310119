// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// NCCL, NVIDIA's library of exchanges between GPUs, which is loaded when ranks first need it. Of its header stand here
/// the few types and numbers that are used, as its documentation has them.
namespace furrow::nccl {

using result = int; ///< ncclResult_t
inline constexpr result success = 0, in_progress = 7;
enum class type : int { f32 = 7, f64 = 8 }; ///< ncclDataType_t
template <class V> constexpr type type_of = sizeof(V) == sizeof(double) ? type::f64 : type::f32;
using handle = struct communicator_of_nccl*; ///< ncclComm_t
using stream = void*;                        ///< cudaStream_t

/// ncclUniqueId: what one rank makes and all need, to find each other.
struct unique_id {
  char bytes[128];
};

struct library {
  std::filesystem::path file; ///< as it was opened
  int version = 0;            ///< 10000 * major + 100 * minor + patch
  result (*get_version)(int* version) = nullptr;
  result (*get_unique_id)(unique_id* id) = nullptr;
  result (*init_rank)(handle* made, int ranks, unique_id id, int rank) = nullptr;
  result (*destroy)(handle) = nullptr;
  result (*abort)(handle) = nullptr;
  result (*get_async_error)(handle, result* error) = nullptr;
  const char* (*error_string)(result) = nullptr;
  result (*all_gather)(const void* mine, void* all, std::size_t count, type, handle, stream) = nullptr;
  result (*send)(const void* data, std::size_t count, type, int to, handle, stream) = nullptr;
  result (*receive)(void* data, std::size_t count, type, int from, handle, stream) = nullptr;
  result (*group_start)() = nullptr;
  result (*group_end)() = nullptr;

  std::string name() const; ///< "NCCL 2.28.9"
};

/// The first version whose exchanges stand in graphs that are recorded by several threads.
inline constexpr int oldest_version = 21400;

struct search {
  std::optional<library> found;
  std::string why; ///< "which" goes before it; empty where it was found
};

/// Looks for the first of `names` where the loader looks, then in `folders`.
search look_for(const std::vector<std::string>& names, const std::vector<std::filesystem::path>& folders);

/// libnccl.so.2, which is looked for once: where FURROW_NCCL says, where the loader looks, in the folders of a CUDA
/// toolkit and beside a Python package.
const search& searched();

/// Why NCCL cannot be used, and what to do.
std::string sentence(const search& s);

/// A loop of a solver is one graph on the GPU where that may hold NCCL's work, which it may only where NCCL is told
/// that a communicator is not used inside graphs and outside of them at the same time: NCCL_GRAPH_MIXING_SUPPORT=0.
/// Sets that in this process, unless somebody said something. For a program that alone uses NCCL here, before it has
/// threads and before anybody loads NCCL.
void keep_to_graphs();

} // namespace furrow::nccl
