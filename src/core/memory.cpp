// SPDX-License-Identifier: BSD-3-Clause
#include "host_room.hpp"
#include "memory_limits.hpp"
#include "page_cache.hpp"

#include <furrow/array.hpp>
#include <furrow/device.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <limits>

namespace furrow {
namespace {

constexpr std::size_t alignment = 64;
/// From here on a block gets pages of its own, as malloc gives it, but ones that stay when it goes: to store cage10 as
/// hdia took 2.8 ms with malloc up to 1 MiB, a third of it for 384 pages that the kernel cleared, and 2.0 without. Huge
/// pages spare gathers their address-translation misses.
#if defined(__SANITIZE_ADDRESS__) // which sees the ends of malloc's blocks alone
constexpr std::size_t mapped_from = std::size_t(1) << 20;
#else
constexpr std::size_t mapped_from = std::size_t(1) << 17;
#endif

} // namespace

std::size_t checked_bytes(index_t count, std::size_t size) {
  if (count < 0) throw error(fault::usage, fmt::format("an array cannot have {} elements: give 0 or more", count));
  const auto limit = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
  if (static_cast<std::size_t>(count) > limit / size) // every array passes here: the sentence only where it is said
    throw error(fault::memory,
                fmt::format("{} elements of {} bytes are 2^63 bytes or more: no memory holds that", count, size));
  return static_cast<std::size_t>(count) * size;
}

void* host_memory::allocate(std::size_t bytes) {
  void* data = nullptr;
  if (bytes >= mapped_from) {
    data = large_blocks().take(bytes);
  } else {
    data = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  if (!data) // the sentence reads files of the system: only where it is said
    throw error(fault::memory, fmt::format("{} bytes of host memory cannot be had ({} are available)", bytes,
                                           available_host_memory()));
  return data;
}

void host_memory::release(void* data, std::size_t bytes) noexcept {
  if (bytes >= mapped_from) large_blocks().give_back(data, bytes);
  else std::free(data);
}

void host_memory::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes) std::memcpy(to, from, bytes);
}

void keep_host_memory(std::int64_t bytes) {
  large_blocks().keep_at_most(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0)));
}

std::int64_t available_host_memory() {
  const std::int64_t available = number_in_file("/proc/meminfo", "MemAvailable:"); // in kB
  return std::min(available < 0 ? std::numeric_limits<std::int64_t>::max() : available * 1024, memory_limits().left);
}

double host_room::bytes() {
  if (!bytes_) bytes_ = double(available_host_memory());
  return *bytes_;
}

} // namespace furrow
