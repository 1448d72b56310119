// SPDX-License-Identifier: BSD-3-Clause
#include "spare_pages.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace furrow {
namespace {

bool has_one_memory_node() {
  std::ifstream file("/sys/devices/system/node/online");
  std::string nodes;
  return !(file >> nodes) || nodes == "0";
}

} // namespace

spare_pages::spare_pages() : limit_(has_one_memory_node() ? most_kept : 0) {}

spare_pages::~spare_pages() { drop_down_to(0); }

void* spare_pages::take(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  void* block = nullptr;
  std::size_t size = bytes;
  const auto found = spare_.lower_bound(bytes);
  if (found != spare_.end() && found->first <= bytes + bytes / 2) {
    size = found->first, block = found->second;
    spare_.erase(found);
    kept_ -= size;
  } else {
    drop_down_to(peak_ > used_ + bytes ? peak_ - used_ - bytes : 0);
    block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return nullptr;
    madvise(block, bytes, MADV_HUGEPAGE); // a wish; where it is not granted nothing is lost
  }
  live_.emplace(block, size);
  used_ += size;
  peak_ = std::max(peak_, used_);
  return block;
}

void spare_pages::give_back(void* block) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(block);
  const std::size_t size = found->second;
  live_.erase(found);
  used_ -= size;
  if (size > limit_) {
    munmap(block, size);
    return;
  }
  drop_down_to(limit_ - size);
  try {
    spare_.emplace(size, block);
    kept_ += size;
  } catch (...) { // no memory for the note
    munmap(block, size);
  }
}

void spare_pages::trim() noexcept {
  const std::lock_guard lock(mutex_);
  drop_down_to(0);
  peak_ = used_;
}

/// Gives kept blocks back to the system, the largest first.
void spare_pages::drop_down_to(std::size_t bytes) noexcept {
  while (kept_ > bytes) {
    const auto last = std::prev(spare_.end());
    munmap(last->second, last->first);
    kept_ -= last->first;
    spare_.erase(last);
  }
}

spare_pages& large_blocks() {
  static auto& blocks = *new spare_pages; // never destroyed: arrays of static storage may outlive everything else
  return blocks;
}

} // namespace furrow
