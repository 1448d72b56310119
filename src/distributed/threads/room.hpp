// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/array.hpp>
#include <furrow/communicator.hpp>

#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

namespace furrow {

/// Where ranks that are threads meet.
class room {
public:
  static constexpr int most = 256;

  /// `crowded`: there are more ranks than processors, so that who waits yields at once.
  room(int size, bool crowded);

  int size() const { return size_; }
  void gather_all(int rank, cview<std::byte> mine, view<std::byte> all);
  void post(int rank, std::span<const outgoing> sends);
  void collect(int rank, std::span<const outgoing> sends, std::span<const incoming> receives);

  /// The first failure stays; everybody who waits, or will, gets a `stopped`.
  void fail(std::exception_ptr why) noexcept;
  /// Rank has ended; who waits for it waits in vain.
  void leave(int rank) noexcept { here_[static_cast<std::size_t>(rank)].left = true, ++left_; }
  std::exception_ptr failure() const { return why_; }

  /// Another rank failed.
  struct stopped : error {
    stopped() : error(fault::internal, "another rank failed") {}
  };

private:
  /// What a rank brings to a meeting. Two of them: who is a meeting ahead must not write what is read still.
  struct alignas(64) place {
    std::array<host_array<std::byte>, 2> brought;
    std::uint64_t meetings = 0; ///< of its rank alone
    std::atomic<bool> left{false};
  };
  /// Of a rank for another: at most one message at a time. A copy, for a rank that fails frees what it sent while
  /// another one reads. Memory that is not filled with zeros first, and where it is large lies in huge pages.
  struct alignas(64) box {
    std::atomic<std::uint64_t> posted{0}, taken{0};
    host_array<std::byte> message;
  };

  box& from_to(int from, int to) {
    return boxes_[static_cast<std::size_t>(from) * here_.size() + static_cast<std::size_t>(to)];
  }
  template <class Ready> void wait(Ready ready, int rank, int whom);

  const int size_;
  const bool crowded_;
  std::vector<place> here_;
  std::vector<box> boxes_;
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<std::uint64_t> meeting_{0};
  std::atomic<bool> ended_{false};
  std::atomic<int> left_{0};
  std::mutex one_failure_;
  std::exception_ptr why_;
};

} // namespace furrow
