// SPDX-License-Identifier: BSD-3-Clause
#include "page_cache.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace furrow {
namespace {

constexpr std::size_t page = 4096;

std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

bool has_one_memory_node() {
  std::ifstream file("/sys/devices/system/node/online");
  std::string nodes;
  return !(file >> nodes) || nodes == "0";
}

void* fresh_pages(std::size_t bytes) {
  void* const block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) return nullptr;
  madvise(block, bytes, MADV_HUGEPAGE); // a wish; where it is not granted nothing is lost
  return block;
}

} // namespace

page_cache::page_cache() : keeps_(has_one_memory_node()) {}

page_cache::~page_cache() { trim(); }

void* page_cache::take(std::size_t bytes) {
  bytes = whole_pages(bytes);
  const std::lock_guard lock(mutex_);
  auto best = spare_.end(); // the smallest that is large enough; there are few
  for (auto b = spare_.begin(); b != spare_.end(); ++b)
    if (b->second >= bytes && (best == spare_.end() || b->second < best->second)) best = b;
  void* block = nullptr;
  if (best == spare_.end()) {
    const std::size_t most = peak_ + slack;
    drop_down_to(most > used_ + bytes ? most - used_ - bytes : 0);
    block = fresh_pages(bytes);
    if (!block) return nullptr;
  } else { // its end; the rest stays
    block = best->first + (best->second - bytes);
    best->second -= bytes;
    kept_ -= bytes;
    if (best->second == 0) spare_.erase(best);
  }
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  return block;
}

void page_cache::give_back(void* block, std::size_t bytes) noexcept {
  bytes = whole_pages(bytes);
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
  if (!keeps_ || bytes > limit_) {
    munmap(block, bytes);
    return;
  }
  drop_down_to(limit_ - bytes);
  try {
    auto here = spare_.emplace(static_cast<std::byte*>(block), bytes).first;
    kept_ += bytes;
    const auto next = std::next(here);
    if (next != spare_.end() && here->first + here->second == next->first) {
      here->second += next->second;
      spare_.erase(next);
    }
    if (here == spare_.begin()) return;
    const auto before = std::prev(here);
    if (before->first + before->second != here->first) return;
    before->second += here->second;
    spare_.erase(here);
  } catch (...) { // no memory for the note
    munmap(block, bytes);
  }
}

void page_cache::keep_at_most(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
  drop_down_to(bytes);
}

void page_cache::trim() noexcept {
  const std::lock_guard lock(mutex_);
  drop_down_to(0);
  peak_ = used_;
}

/// Gives kept pages back to the system, from the ends of the largest blocks.
void page_cache::drop_down_to(std::size_t bytes) noexcept {
  while (kept_ > bytes) {
    const auto largest = std::ranges::max_element(spare_, {}, &std::map<std::byte*, std::size_t>::value_type::second);
    const std::size_t some = std::min(largest->second, whole_pages(kept_ - bytes));
    largest->second -= some;
    munmap(largest->first + largest->second, some);
    kept_ -= some;
    if (largest->second == 0) spare_.erase(largest);
  }
}

page_cache& large_blocks() {
  static auto& blocks = *new page_cache; // never destroyed: arrays of static storage may outlive everything else
  static const int forks = pthread_atfork([] { blocks.pause(); }, [] { blocks.resume(); }, [] { blocks.resume(); });
  static_cast<void>(forks);
  return blocks;
}

} // namespace furrow
