// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "mailbox.hpp"
#include "reduce.hpp"
#include "waiting.hpp"

/// Sums over ranks that write into each other's memory, by the kernel that has worked out this rank's share: the block
/// that adds up its blocks writes the number to the others, and waits for theirs.
namespace furrow::gpu {

/// A sum over ranks: to <- the sum over them of mine + more, which lie in the memory of each one's GPU.
struct sum_over_ranks {
  slot to, mine, more = {}; ///< no `more`: `mine` alone
};
struct few_sums {
  sum_over_ranks of[max_sums];
  int count;
};

/// What the kernels of a rank know of the mailboxes.
struct mailboxes {
  std::uint64_t* inbox[mailbox::most_ranks] = {};
  std::uint32_t* round = nullptr; ///< of this rank's last sum
  mailbox::layout at{};
  patience_of_rank patience{};
  int rank = 0;
};

#if defined(__CUDACC__)
struct memory_of_kernel {
  const mailboxes& all;
  waiting wait;
  __device__ void put(int to, index_t place, std::uint64_t word) { put_for_all(all.inbox[to] + place, word); }
  __device__ std::uint64_t get(index_t place) { return get_of_all(all.inbox[all.rank] + place); }
  __device__ bool over(int whom) { return wait.over(whom); }
};

/// Number k of this rank's next sum, over all ranks.
__device__ inline double exchange(const mailboxes& all, std::uint32_t round, int k, double mine) {
  memory_of_kernel memory{all, waiting(all.patience)};
  const double total = mailbox::sum_over_ranks(memory, all.at, all.rank, round, k, mine);
  if (k == 0) *all.patience.waited += memory.wait.so_far();
  return total;
}

/// By all threads of one block of the grid.
__device__ inline void add_over_ranks(const mailboxes& all, const few_sums& sums) {
  const int k = static_cast<int>(threadIdx.x);
  const std::uint32_t round = mailbox::round_after(*all.round);
  if (k < sums.count) {
    const sum_over_ranks s = sums.of[k];
    *s.to.at = exchange(all, round, k, s.more.at ? *s.mine.at + *s.more.at : *s.mine.at);
  }
  __syncthreads();
  if (k == 0) *all.round = round;
}

/// Nothing beside the shares of the threads, and whether this thread's block is the one that is asked.
struct tells_the_last_block {
  bool& last;
  __device__ double operator()(int) const {
    last = true;
    return 0;
  }
};

/// As `finish`, of the threads of all ranks.
template <int Threads, int N>
__device__ void finish_over_ranks(const double* mine, const sum_target<N>& to, const mailboxes& all) {
  static_assert(N > 0);
  bool last = false;
  finish<Threads, N>(mine, to, tells_the_last_block{last});
  if (!last) return;
  __syncthreads(); // behind the numbers that the first warp has written
  few_sums sums{{}, N};
  for (int k = 0; k < N; ++k) sums.of[k] = {to.out[k], to.out[k], {}};
  add_over_ranks(all, sums);
}
#endif

} // namespace furrow::gpu
