// SPDX-License-Identifier: BSD-3-Clause
// In every build: another library of the process may have put a vector onto a GPU.
#include "core/memory_place.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>

namespace furrow {
namespace {

/// `cuPointerGetAttributes` of the driver (CUDA driver API 6.6, unified addressing), spelled without its headers.
using attributes_of = int (*)(unsigned count, const int* which, void** values, unsigned long long address);
constexpr std::array which{2 /* memory type */, 8 /* is managed */, 9 /* device ordinal */};
constexpr unsigned of_a_device = 2;

/// What the dynamic loader tells of the process.
struct loaded {
  unsigned long long count = 0; ///< libraries that were loaded so far
  bool driver = false;          ///< one of them is the driver
};

/// `names`: look at them, too; otherwise the first library tells the count.
loaded libraries_of_process(bool names) {
  std::pair<loaded, bool> found{{}, names};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        auto& [l, look] = *static_cast<std::pair<loaded, bool>*>(to);
        l.count = info->dlpi_adds;
        const std::string_view file = info->dlpi_name ? info->dlpi_name : "";
        l.driver = l.driver || file.substr(file.rfind('/') + 1).starts_with("libcuda.so");
        return look && !l.driver ? 0 : 1;
      },
      &found);
  return found.first;
}

/// Null where no driver was noticed.
std::atomic<attributes_of>& driver() {
  static std::atomic<attributes_of> known = nullptr;
  return known;
}

} // namespace

void notice_gpu_driver() {
  static std::atomic<unsigned long long> looked_at = 0;
  if (driver().load(std::memory_order_relaxed)) return;
  const unsigned long long count = libraries_of_process(false).count;
  if (looked_at.exchange(count) == count) return;
  if (!libraries_of_process(true).driver) return; // the loader would look for its file, in 20 folders: some 100 us
  if (void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)) // stays: the driver is never unloaded
    driver() = reinterpret_cast<attributes_of>(dlsym(library, "cuPointerGetAttributes"));
}

memory_place place_of(const void* address) {
  const attributes_of ask = address ? driver().load(std::memory_order_acquire) : nullptr;
  if (!ask) return {};
  unsigned type = 0, managed = 0;
  int ordinal = 0;
  std::array<void*, which.size()> values{&type, &managed, &ordinal};
  if (ask(which.size(), which.data(), values.data(), reinterpret_cast<std::uintptr_t>(address)) != 0) return {};
  if (managed) return {true, true, ordinal};
  if (type != of_a_device) return {};
  return {false, true, ordinal};
}

} // namespace furrow
