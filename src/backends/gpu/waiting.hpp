// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "peer_memory.hpp"

#include <furrow/view.hpp>

/// How kernels of ranks wait for each other, and stop waiting.
namespace furrow::gpu {

/// How a kernel waits: by one thread at a time.
struct patience_of_rank {
  std::uint32_t* word = nullptr;   ///< 0 while all is well; all ranks see it, and whoever does not find 0 waits no more
  std::uint64_t* waited = nullptr; ///< nanoseconds of this rank, added up by the kernels that are told to
  std::uint64_t most = 0;          ///< nanoseconds
  int rank = 0;
};

/// What the word becomes where a rank has waited in vain.
FURROW_HD inline std::uint32_t code_of_waiting(int rank, int whom) {
  return std::uint32_t(rank + 1) << 16 | std::uint32_t(whom + 1);
}

#if defined(__CUDACC__)
/// The waiting of a thread, from its making on.
class waiting {
public:
  __device__ explicit waiting(const patience_of_rank& p) : p_(p), began_(nanoseconds()) {}
  /// Between two looks in vain: whether to give up.
  __device__ bool over(int whom) {
    if (++looks_ % looks_between) return false;
    if (get_of_all(p_.word) != 0) return true;
    if (nanoseconds() - began_ < p_.most) return false;
    put_for_all(p_.word, code_of_waiting(p_.rank, whom));
    return true;
  }
  __device__ std::uint64_t so_far() const { return nanoseconds() - began_; }

private:
  static constexpr unsigned looks_between = 256; ///< at the word, which lies in the memory of the host
  const patience_of_rank& p_;
  std::uint64_t began_;
  unsigned looks_ = 0;
};
#endif

} // namespace furrow::gpu
