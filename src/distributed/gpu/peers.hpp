// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/waiting.hpp"

#include <furrow/communicator.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace furrow::gpu {

/// What ranks of one process with a GPU each have in common: memory that all of their GPUs read and write, which stays
/// until the last of them has left, and a word by which one of them ends the waiting of all.
class peers {
public:
  /// Seconds that a kernel waits for another GPU.
  static constexpr double patience = 10;

  explicit peers(std::vector<device> on);
  peers(const peers&) = delete;
  ~peers();

  const std::vector<device>& on() const { return on_; }
  /// Memory of rank's GPU, zeros.
  void* take(int rank, std::size_t bytes);

  /// The word, which every device can read: 0 while all is well, then `code_of_waiting` of who waited for whom, or
  /// `ended`.
  std::uint32_t* word() { return word_; }
  /// Ends the waiting of all, where nothing did before.
  void end() noexcept;
  /// Throws `fault::device` where it has ended.
  void check() const;

  static constexpr std::uint32_t ended = ~std::uint32_t(0);

private:
  struct piece {
    int ordinal;
    void* data;
  };
  runtime::pool open_pool(int ordinal) const;
  std::vector<device> on_;
  std::uint32_t* word_ = nullptr;
  std::mutex busy_;
  std::vector<piece> pieces_;
  std::vector<runtime::pool> pools_; ///< of each rank: a level of multigrid asks for six pieces; null before the first
};

/// The peers of these ranks; null, with the reason as a sentence, where they have to go through the host. All ranks
/// call it, and get the same answer.
std::shared_ptr<peers> find_peers(communicator& c, std::string& why_not);

} // namespace furrow::gpu
