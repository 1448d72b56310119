// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "plan.hpp"
#include "words.hpp"

#include <furrow/view.hpp>

#include <type_traits>

/// What a block keeps of a system, and its part of a step. A share has
///   load()          from memory
///   multiply()      q = A p; a thread's part of p'q
///   advance()       x += alpha p of the step before, where that is not made yet
///   shrink(alpha)   r -= alpha q, z = d r, posted; parts of r'r and r'z
///   gather(t, n)    z of other blocks' rows, by n threads of which this is the t-th
///   turn(beta)      p = z + beta p, of the block's rows and of its halo
///   store()         x, r and p to memory
namespace furrow::resident {

/// A system, and what a run of steps touches beside the chip.
template <class V> struct arguments {
  const index_t* row_ptr;
  const std::uint16_t* col; ///< of plan, and the next three, too
  const std::int32_t *first, *halo_first, *halo;
  const V* val;
  cview<V> d; ///< entries of M; empty: the identity
  view<V> x, r, p;
  double* slots;       ///< of cg and its judge
  sum_word* sums;      ///< p'q, r'z, r'r of each block, and the judge's word
  word<V>* z;          ///< of each row
  std::uint64_t stamp; ///< of the last step of the run before
  long long steps;     ///< at most, 1 at least
  bool inside;         ///< the matrix lies in shared memory
  int lanes;           ///< a row
};

/// Its place in the system.
struct place {
  std::int32_t first, rows, far, halo, entries;
  index_t base;

  template <class V> __device__ place(const arguments<V>& g, int block) {
    first = g.first[block], rows = g.first[block + 1] - first;
    far = g.halo_first[block], halo = g.halo_first[block + 1] - far;
    base = g.row_ptr[first];
    entries = static_cast<std::int32_t>(g.row_ptr[first + rows] - base);
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

/// Everything in shared memory, in the order of `bytes_of`; the matrix where there is room.
template <class V> class shared_share {
  using stamp_type = typename word<V>::stamp_type;

public:
  __device__ shared_share(const arguments<V>& g, unsigned char* room) : g_(g), at_(g, int(blockIdx.x) - 1) {
    shelf own(room);
    p_ = own.take<V>(at_.rows + at_.halo);
    x_ = own.take<V>(at_.rows), r_ = own.take<V>(at_.rows), q_ = own.take<V>(at_.rows);
    z_ = own.take<V>(at_.rows), d_ = own.take<V>(at_.rows), far_z_ = own.take<V>(at_.halo);
    row_ = own.take<std::int32_t>(at_.rows + 1);
    val_ = g.val + at_.base, col_ = g.col + at_.base;
    for (int i = thread(); i < at_.rows; i += threads) {
      x_[i] = g.x[at_.first + i], r_[i] = g.r[at_.first + i], p_[i] = g.p[at_.first + i];
      d_[i] = g.d.size ? g.d[at_.first + i] : V(1);
    }
    for (int i = thread(); i < at_.halo; i += threads) p_[at_.rows + i] = g.p[g.halo[at_.far + i]];
    for (int i = thread(); i <= at_.rows; i += threads)
      row_[i] = static_cast<std::int32_t>(g.row_ptr[at_.first + i] - at_.base);
    if (!g.inside) return;
    V* const val = own.take<V>(at_.entries);
    std::uint16_t* const col = own.take<std::uint16_t>(at_.entries);
    for (int k = thread(); k < at_.entries; k += threads) val[k] = val_[k], col[k] = col_[k];
    val_ = val, col_ = col;
  }

  __device__ double multiply() {
    const int lanes = g_.lanes, lane = thread() % lanes, group = thread() / lanes;
    double pq = 0;
    // Whole warps turn together, so that all lanes meet in the shuffles.
    for (int from = 0; from < at_.rows; from += threads / lanes) {
      const int i = from + group;
      V sum = i < at_.rows ? product(row_[i] + lane, row_[i + 1], lanes) : V(0);
      for (int distance = lanes / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
      if (lane == 0 && i < at_.rows) q_[i] = sum, pq += double(p_[i]) * double(sum);
    }
    return pq;
  }
  __device__ void advance() {}
  __device__ void shrink(V alpha, std::uint64_t stamp, double& rr, double& rz) {
    alpha_ = alpha;
    for (int i = thread(); i < at_.rows; i += threads) {
      const V r = r_[i] - alpha * q_[i], z = d_[i] * r;
      post(g_.z + at_.first + i, z, static_cast<stamp_type>(stamp));
      r_[i] = r, z_[i] = z;
      rr += double(r) * double(r), rz += double(r) * double(z);
    }
  }
  __device__ void gather(int mine, int count, std::uint64_t stamp) {
    for (int i = mine; i < at_.halo; i += gather_batch * count) {
      V z[gather_batch];
      collect<gather_batch, V>([&](int k) { return g_.z + g_.halo[at_.far + i + k * count]; },
                               (at_.halo - i + count - 1) / count, static_cast<stamp_type>(stamp), z);
#pragma unroll
      for (int k = 0; k < gather_batch; ++k)
        if (i + k * count < at_.halo) far_z_[i + k * count] = z[k];
    }
  }
  __device__ void turn(V beta) {
    for (int i = thread(); i < at_.rows; i += threads) {
      x_[i] = x_[i] + alpha_ * p_[i];
      p_[i] = z_[i] + beta * p_[i];
    }
    for (int i = thread(); i < at_.halo; i += threads) p_[at_.rows + i] = far_z_[i] + beta * p_[at_.rows + i];
  }
  __device__ void store() const {
    for (int i = thread(); i < at_.rows; i += threads)
      g_.x[at_.first + i] = x_[i], g_.r[at_.first + i] = r_[i], g_.p[at_.first + i] = p_[i];
  }

private:
  static __device__ int thread() { return static_cast<int>(threadIdx.x); }

  /// The share of a lane, `batch` entries under way at once.
  __device__ V product(std::int32_t from, std::int32_t to, int lanes) const {
    constexpr int batch = 4;
    V sum = 0;
    for (std::int32_t k = from; k < to; k += batch * lanes) {
      V a[batch], b[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const std::int32_t at = k + u * lanes;
        a[u] = at < to ? val_[at] : V(0);
        b[u] = at < to ? p_[col_[at]] : V(0);
      }
#pragma unroll
      for (int u = 0; u < batch; ++u) sum += a[u] * b[u];
    }
    return sum;
  }

  const arguments<V>& g_;
  place at_;
  V *p_, *x_, *r_, *q_, *z_, *d_, *far_z_;
  std::int32_t* row_;
  const V* val_;
  const std::uint16_t* col_;
  V alpha_ = 0;
};

/// For few rows: only p in shared memory, and a thread keeps at most `entries` entries of one row in registers. The
/// first lane of a row keeps the rest of it, and a thread at most `gather_batch` elements of the halo.
template <class V, int entries> class register_share {
  using stamp_type = typename word<V>::stamp_type;

public:
  __device__ register_share(const arguments<V>& g, unsigned char* room) : g_(g), at_(g, int(blockIdx.x) - 1) {
    p_ = shelf(room).take<V>(at_.rows + at_.halo);
    const int thread = static_cast<int>(threadIdx.x), lane = thread % g.lanes;
    row_ = thread / g.lanes;
    const bool inside = row_ < at_.rows;
    owner_ = inside && lane == 0;
    row_ += at_.first;
    const index_t from = inside ? g.row_ptr[row_] + lane : 0, to = inside ? g.row_ptr[row_ + 1] : 0;
#pragma unroll
    for (int k = 0; k < entries; ++k) {
      const index_t e = from + k * g.lanes;
      val_[k] = e < to ? g.val[e] : V(0);
      const std::uint32_t col = e < to ? g.col[e] : none;
      cols_[k / 2] = k % 2 ? cols_[k / 2] | col << 16 : col;
    }
    if (owner_) {
      x_ = g.x[row_], r_ = g.r[row_], p_now_ = g.p[row_];
      d_ = g.d.size ? g.d[row_] : V(1);
      p_[row_ - at_.first] = p_now_;
    }
    for (int i = thread; i < at_.halo; i += threads) p_[at_.rows + i] = g.p[g.halo[at_.far + i]];
  }

  __device__ double multiply() {
    V sum = 0, b[entries];
#pragma unroll
    for (int k = 0; k < entries; ++k) {
      const std::uint32_t col = cols_[k / 2] >> (k % 2 * 16) & 0xffffU;
      b[k] = col != none ? p_[col] : V(0);
    }
#pragma unroll
    for (int k = 0; k < entries; ++k) sum += val_[k] * b[k];
    for (int distance = g_.lanes / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0u, sum, distance);
    q_ = sum;
    return owner_ ? double(p_now_) * double(sum) : 0;
  }
  __device__ void advance() {
    x_ = x_ + alpha_ * p_before_;
    alpha_ = 0;
  }
  __device__ void shrink(V alpha, std::uint64_t stamp, double& rr, double& rz) {
    next_alpha_ = alpha;
    if (!owner_) return;
    r_ = r_ - alpha * q_, z_ = d_ * r_;
    post(g_.z + row_, z_, static_cast<stamp_type>(stamp));
    rr = double(r_) * double(r_), rz = double(r_) * double(z_);
  }
  __device__ void gather(int mine, int count, std::uint64_t stamp) {
    mine_ = mine, count_ = count;
    if (mine >= at_.halo) return;
    collect<gather_batch, V>([&](int k) { return g_.z + g_.halo[at_.far + mine + k * count]; },
                             (at_.halo - mine + count - 1) / count, static_cast<stamp_type>(stamp), far_z_);
  }
  __device__ void turn(V beta) {
    p_before_ = p_now_, alpha_ = next_alpha_;
    if (owner_) p_now_ = z_ + beta * p_now_, p_[row_ - at_.first] = p_now_;
#pragma unroll
    for (int k = 0; k < gather_batch; ++k) {
      const int i = mine_ + k * count_;
      if (i < at_.halo) p_[at_.rows + i] = far_z_[k] + beta * p_[at_.rows + i];
    }
  }
  __device__ void store() {
    advance();
    if (owner_) g_.x[row_] = x_, g_.r[row_] = r_, g_.p[row_] = p_now_;
  }

private:
  static constexpr std::uint32_t none = 0xffffU; ///< beyond the elements that such a block has

  const arguments<V>& g_;
  place at_;
  V* p_;
  V val_[entries];
  std::uint32_t cols_[entries / 2]; ///< two in each
  int row_, mine_ = 1 << 20, count_ = 0;
  bool owner_;
  V x_ = 0, r_ = 0, d_ = 0, q_ = 0, z_ = 0, p_now_ = 0, p_before_ = 0, alpha_ = 0, next_alpha_ = 0;
  V far_z_[gather_batch] = {};
};

} // namespace furrow::resident
