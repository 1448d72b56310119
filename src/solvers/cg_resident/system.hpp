// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "plan.hpp"
#include "words.hpp"

#include <furrow/view.hpp>

/// A system as the blocks of a kernel keep it, and the rows of one of them.
namespace furrow::resident {

/// A system, and what a run of steps of any method touches beside the chip.
template <class V> struct system_on_chip {
  const index_t* row_ptr;
  const std::uint16_t* col; ///< of plan, and the next three, too
  const std::int32_t *first, *halo_first, *halo;
  const V* val;
  cview<V> d;          ///< entries of M; empty: the identity
  double* slots;       ///< of the method and its judge
  sum_word* sums;      ///< of each block, and the judge's word
  std::uint64_t stamp; ///< of the last step of the run before
  long long steps;     ///< at most, 1 at least
  bool inside;         ///< the matrix lies in shared memory
  int lanes;           ///< a row
};

/// Its place in the system.
struct place {
  std::int32_t first, rows, far, halo;

  template <class V> __device__ place(const system_on_chip<V>& g, int block) {
    first = g.first[block], rows = g.first[block + 1] - first;
    far = g.halo_first[block], halo = g.halo_first[block + 1] - far;
  }
};

/// Takes arrays from shared memory, each from a multiple of 8 bytes on.
class shelf {
public:
  __device__ explicit shelf(unsigned char* room) : room_(room) {}
  template <class T> __device__ T* take(index_t count) {
    T* const array = reinterpret_cast<T*>(room_);
    room_ += (count * static_cast<index_t>(sizeof(T)) + 7) / 8 * 8;
    return array;
  }

private:
  unsigned char* room_;
};

/// Its rows where all is in shared memory: offsets, and entries where there is room. Takes its part of the shelf last.
template <class V> class shared_rows {
public:
  __device__ shared_rows(const system_on_chip<V>& g, const place& at, shelf& own)
      : shared_rows(g, at, g.row_ptr, g.col, g.val, own) {}
  /// Those of another matrix of the same rows.
  __device__ shared_rows(const system_on_chip<V>& g, const place& at, const index_t* row_ptr, const std::uint16_t* col,
                         const V* val, shelf& own)
      : lanes_(g.lanes), rows_(at.rows) {
    const int thread = static_cast<int>(threadIdx.x);
    const index_t base = row_ptr[at.first];
    val_ = val + base, col_ = col + base;
    row_ = own.take<std::int32_t>(at.rows + 1);
    for (int i = thread; i <= at.rows; i += threads) row_[i] = static_cast<std::int32_t>(row_ptr[at.first + i] - base);
    if (!g.inside) return;
    const auto entries = static_cast<std::int32_t>(row_ptr[at.first + at.rows] - base);
    V* const own_val = own.take<V>(entries);
    std::uint16_t* const own_col = own.take<std::uint16_t>(entries);
    for (int k = thread; k < entries; k += threads) own_val[k] = val_[k], own_col[k] = col_[k];
    val_ = own_val, col_ = own_col;
  }

  /// each(i, (A in)_i), by one thread for each row.
  template <class F> __device__ void multiply(const V* in, F each) const {
    const int thread = static_cast<int>(threadIdx.x), lane = thread % lanes_, group = thread / lanes_;
    // Whole warps turn together, so that all lanes meet in the shuffles.
    for (int from = 0; from < rows_; from += threads / lanes_) {
      const int i = from + group;
      V sum = i < rows_ ? share(in, row_[i] + lane, row_[i + 1]) : V(0);
      for (int distance = lanes_ / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
      if (lane == 0 && i < rows_) each(i, sum);
    }
  }

private:
  /// That of a lane, `batch` entries under way at once.
  __device__ V share(const V* in, std::int32_t from, std::int32_t to) const {
    constexpr int batch = 4;
    V sum = 0;
    for (std::int32_t k = from; k < to; k += batch * lanes_) {
      V a[batch], b[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const std::int32_t at = k + u * lanes_;
        a[u] = at < to ? val_[at] : V(0);
        b[u] = at < to ? in[col_[at]] : V(0);
      }
#pragma unroll
      for (int u = 0; u < batch; ++u) sum += a[u] * b[u];
    }
    return sum;
  }

  int lanes_, rows_;
  std::int32_t* row_;
  const V* val_;
  const std::uint16_t* col_;
};

/// For few rows: a thread keeps at most `entries` entries of one row in registers.
template <class V, int entries> class register_rows {
public:
  __device__ register_rows(const system_on_chip<V>& g, const place& at) : lanes_(g.lanes) {
    const int thread = static_cast<int>(threadIdx.x), lane = thread % lanes_;
    row_ = thread / lanes_;
    const bool inside = row_ < at.rows;
    owner_ = inside && lane == 0;
    const index_t row = at.first + row_, from = inside ? g.row_ptr[row] + lane : 0,
                  to = inside ? g.row_ptr[row + 1] : 0;
#pragma unroll
    for (int k = 0; k < entries; ++k) {
      const index_t e = from + k * lanes_;
      val_[k] = e < to ? g.val[e] : V(0);
      const std::uint32_t col = e < to ? g.col[e] : none;
      cols_[k / 2] = k % 2 ? cols_[k / 2] | col << 16 : col;
    }
  }
  /// Whether this thread is the first one of a row, and which of the block's that is.
  __device__ bool owner() const { return owner_; }
  __device__ int row() const { return row_; }

  /// (A in) of the row, in all of its lanes.
  __device__ V multiply(const V* in) const {
    V sum = 0, b[entries];
#pragma unroll
    for (int k = 0; k < entries; ++k) {
      const std::uint32_t col = cols_[k / 2] >> (k % 2 * 16) & 0xffffU;
      b[k] = col != none ? in[col] : V(0);
    }
#pragma unroll
    for (int k = 0; k < entries; ++k) sum += val_[k] * b[k];
    for (int distance = lanes_ / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    return sum;
  }

private:
  static constexpr std::uint32_t none = 0xffffU; ///< beyond the elements that such a block has

  int lanes_, row_;
  bool owner_;
  V val_[entries];
  std::uint32_t cols_[entries / 2]; ///< two in each
};

/// Which of the threads that gather this one is; negative: none of them. All but two warps do.
__device__ inline int gathers() { return static_cast<int>(threadIdx.x) - (threads - gather_threads); }

/// Elements of other blocks' rows that a thread keeps: those of the halo from `from` on, `gather_threads` apart, at
/// most `gather_batch` of them, once their words have that stamp.
template <class V>
__device__ void gather_few(const system_on_chip<V>& g, const place& at, const word<V>* words, int from,
                           std::uint64_t stamp, V (&to)[gather_batch]) {
  if (from >= at.halo) return;
  collect<gather_batch, V>([&](int k) { return words + g.halo[at.far + from + k * gather_threads]; },
                           (at.halo - from + gather_threads - 1) / gather_threads,
                           static_cast<typename word<V>::stamp_type>(stamp), to);
}
/// The same for any number: to(i, value) for each.
template <class V, class F>
__device__ void gather_halo(const system_on_chip<V>& g, const place& at, const word<V>* words, std::uint64_t stamp,
                            F to) {
  for (int i = gathers(); i < at.halo; i += gather_batch * gather_threads) {
    V values[gather_batch];
    gather_few(g, at, words, i, stamp, values);
#pragma unroll
    for (int k = 0; k < gather_batch; ++k)
      if (i + k * gather_threads < at.halo) to(i + k * gather_threads, values[k]);
  }
}
/// each(k, i) for the k-th element that this thread keeps, which is the halo's i-th.
template <class F> __device__ void each_of_few(const place& at, F each) {
  const int from = gathers();
#pragma unroll
  for (int k = 0; k < gather_batch; ++k)
    if (const int i = from + k * gather_threads; from >= 0 && i < at.halo) each(k, i);
}

} // namespace furrow::resident
