// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <cstddef>
#include <map>
#include <mutex>

namespace furrow {

/// Large blocks of host memory with pages of their own, some of which are kept when they are given back: the kernel
/// clears every fresh page, at some 4 GB/s a core, and a quarter of the time of reading a matrix went there.
///
/// What is kept makes the memory of the process hardly larger than it has been: before fresh pages are asked for, kept
/// ones go back to the system until both together are within the peak and `slack`, for a block that is a little larger
/// than those that are kept: to make bcsstk25 anew takes 1.2 ms, and 1.9 without. (What others allocate comes on top.)
/// On machines with several memory nodes nothing is kept, for there a page belongs near the thread that touches it
/// first.
class page_cache {
public:
  static constexpr std::size_t usually_kept = std::size_t(128) << 20, slack = std::size_t(4) << 20;

  page_cache();
  page_cache(const page_cache&) = delete;
  page_cache& operator=(const page_cache&) = delete;
  ~page_cache();

  /// Null where the system has none. The contents are not defined.
  void* take(std::size_t bytes);
  void give_back(void* block, std::size_t bytes) noexcept;

  /// From now on, and at once.
  void keep_at_most(std::size_t bytes) noexcept;
  /// Gives all kept pages back to the system and forgets the peak.
  void trim() noexcept;

  /// Around a fork: nobody else is in the middle of something then, so that the child can go on.
  void pause() { mutex_.lock(); }
  void resume() { mutex_.unlock(); }

private:
  void drop_down_to(std::size_t bytes) noexcept;

  std::mutex mutex_;
  std::map<std::byte*, std::size_t> spare_;    ///< kept blocks and their sizes; no two are neighbours
  std::size_t used_ = 0, kept_ = 0, peak_ = 0; ///< bytes
  const bool keeps_;
  std::size_t limit_ = usually_kept;
};

/// The blocks of host_memory.
page_cache& large_blocks();

} // namespace furrow
