// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "link.hpp"

#include "backends/gpu/launch.hpp"
#include "backends/gpu/prefetch.hpp"
#include "backends/gpu/reduce.hpp"

/// The entries of a rank's rows in columns of others, which a kernel behind the product with its own multiplies.
namespace furrow::gpu {

inline constexpr int far_threads = 256;
inline constexpr double long_far_row = 6; ///< entries on average from which on several threads take a row
/// Blocks of a multiprocessor at most: they wait for other GPUs with half of its registers, so that the kernels of
/// other solves, for which these may wait in turn, find place beside them.
inline constexpr int far_blocks = 2;

#if defined(__CUDACC__)
/// Elements of others, as a kernel gets them that has taken its turn: whoever asks for one waits until it is there.
template <class V> class elements_of_others {
public:
  /// Waits until all neighbours have begun this product: what each of them sends comes within microseconds then, and
  /// it has what was sent to it for the product before. By all threads of all blocks.
  __device__ explicit elements_of_others(const arriving<V>& x) : x_(x) {
    if (!x.when.number.begun) return;
    now_ = *x.when.number.begun;
    words_ = x.words + (now_ % 2) * x.to_second;
    gave_up_ = __syncthreads_or(wait_for_neighbour()) != 0;
    if (blockIdx.x == 0 && threadIdx.x == 0) *x.when.number.ended = now_;
  }

  /// to[j] <- element which[j], 0 where that is negative; all under way together.
  template <int N> __device__ void take(const std::int32_t (&which)[N], V (&to)[N]) const {
    if (!words_) {
#pragma unroll
      for (int j = 0; j < N; ++j) to[j] = which[j] < 0 ? V(0) : __ldcg(x_.there + which[j]);
      return;
    }
    if (look(which, to) || gave_up_) return;
    waiting wait(x_.when.patience);
    while (!look(which, to))
      if (wait.over(x_.when.rank_of[0])) break; // whoever it is has begun, and was not named then
  }

private:
  /// By the first threads of a block, one for each neighbour: whether to give up.
  __device__ bool wait_for_neighbour() const {
    const int n = int(threadIdx.x);
    if (n >= x_.when.neighbours) return false;
    const int whom = x_.when.rank_of[n];
    waiting wait(x_.when.patience);
    bool over = false;
    while (!over && std::int32_t(get_of_all(x_.when.told + whom) - now_) < 0) over = wait.over(whom);
    if (n == 0 && blockIdx.x == 0) *x_.when.patience.waited += wait.so_far();
    return over;
  }
  /// Whether all of them are there.
  template <int N> __device__ bool look(const std::int32_t (&which)[N], V (&to)[N]) const {
    bool all = true;
#pragma unroll
    for (int j = 0; j < N; ++j) {
      const std::uint64_t* const at = words_ + index_t(which[j]) * mailbox::words_of<V>;
      const bool wanted = which[j] >= 0;
      if constexpr (sizeof(V) == 8) {
        std::uint64_t low = now_, high = now_; // 0, as if it were there
        get_two_of_all(at, wanted, low, high);
        all = all & mailbox::is_of(low, now_) & mailbox::is_of(high, now_);
        to[j] = mailbox::number_of(low, high);
      } else {
        std::uint64_t word = now_;
        get_of_all(at, wanted, word);
        all = all & mailbox::is_of(word, now_);
        to[j] = mailbox::number_of(word);
      }
    }
    return all;
  }

  const arriving<V>& x_;
  const std::uint64_t* words_ = nullptr;
  std::uint32_t now_ = 0;
  bool gave_up_ = false;
};
#endif

/// Rows that have such entries, one after the other.
template <class V> struct far_part {
  index_t rows;
  const index_t* begins;
  const std::int32_t *columns, *row_of; ///< in the order of the plan; among the rank's rows
  const V* values;

#if defined(__CUDACC__)
  /// In place of `take_turn`: what never changes is on its way from the memory while the kernel before still runs.
  /// By all threads; W a row.
  template <int W> __device__ void take_turn_with_rows() const {
    let_next_come();
    const index_t k = (index_t(blockIdx.x) * far_threads + threadIdx.x) / W;
    if (k < rows)
      for (index_t e = begins[k] + int(threadIdx.x) % W; e < begins[k + 1]; e += W)
        prefetch(columns + e), prefetch(values + e);
    wait_for_previous();
  }
  /// Of row k times the elements of others, by W threads of a warp; the first one gets it.
  template <int W> __device__ V sum_of(index_t k, int lane, const elements_of_others<V>& there) const {
    constexpr int batch = 4;
    V sum = 0;
    const index_t end = begins[k + 1];
    for (index_t e = begins[k] + lane; e < end; e += batch * W) {
      std::int32_t which[batch];
      V value[batch], element[batch];
#pragma unroll
      for (int j = 0; j < batch; ++j) {
        const index_t at = e + j * W;
        which[j] = at < end ? columns[at] : -1, value[j] = at < end ? values[at] : V(0);
      }
      there.take(which, element);
#pragma unroll
      for (int j = 0; j < batch; ++j)
        if (which[j] >= 0) sum += value[j] * element[j];
    }
    if constexpr (W > 1) sum = sum_lanes<W>(sum);
    return sum;
  }
#endif
};

} // namespace furrow::gpu
