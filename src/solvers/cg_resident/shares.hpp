// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "kernel.hpp"

#include <iterator>

/// What a block keeps of a system, and its part of a step. A share has
///   general         whether M is no diagonal
///   multiply(pp)    q = A p; a thread's part of p'q, and of p'p where M is general
///   advance()       x += alpha p of the step before, where that is not made yet
///   shrink(alpha)   r -= alpha q, z = M r, posted; parts of r'r and r'z
///   gather()        z of other blocks' rows, by all warps but the first two
///   turn(beta)      p = z + beta p, of the block's rows and of its halo
///   store()         x, r and p to memory
namespace furrow::resident {

/// What a run of steps of conjugate gradients touches beside the chip.
template <class V> struct arguments : system_on_chip<V> {
  view<V> x, r, p;
  word<V>* z; ///< of each row
};

/// The same where M is a matrix.
template <class V> struct arguments_with_matrix : arguments<V> {
  const index_t* row_ptr_of_m;
  const std::uint16_t* col_of_m;
  const V* val_of_m;
};

/// M on the chip: each(i, z) for every row of the block, z = M r, once remain(i) has made r there.
template <class V> class diagonal_on_chip {
public:
  using arguments_type = arguments<V>;
  static constexpr bool general = false;

  __device__ diagonal_on_chip(const arguments<V>& g, const place& at, shelf& own)
      : rows_(at.rows), d_(own.take<V>(at.rows)) {
    for (int i = static_cast<int>(threadIdx.x); i < rows_; i += threads) d_[i] = g.d.size ? g.d[at.first + i] : V(1);
  }
  template <class R, class F> __device__ void apply(const V*, R remain, F each) const {
    for (int i = static_cast<int>(threadIdx.x); i < rows_; i += threads) each(i, d_[i] * remain(i));
  }

private:
  int rows_;
  V* d_;
};
/// One whose entries stay within the rows of a block.
template <class V> class matrix_on_chip {
public:
  using arguments_type = arguments_with_matrix<V>;
  static constexpr bool general = true;

  __device__ matrix_on_chip(const arguments_with_matrix<V>& g, const place& at, shelf& own)
      : rows_(at.rows), m_(g, at, g.row_ptr_of_m, g.col_of_m, g.val_of_m, own) {}
  template <class R, class F> __device__ void apply(const V* r, R remain, F each) const {
    for (int i = static_cast<int>(threadIdx.x); i < rows_; i += threads) remain(i);
    __syncthreads();
    m_.multiply(r, each);
  }

private:
  int rows_;
  shared_rows<V> m_;
};

/// Everything in shared memory, in the order of `bytes_of`; the matrices where there is room.
template <class V, class M> class shared_share {
  using stamp_type = typename word<V>::stamp_type;

public:
  using value = V;
  using arguments_type = typename M::arguments_type;
  static constexpr bool general = M::general;

  __device__ shared_share(const arguments_type& g, unsigned char* room) : shared_share(g, shelf(room)) {}

  __device__ double multiply(double& pp) {
    double pq = 0;
    rows_.multiply(p_, [&](int i, V sum) {
      q_[i] = sum, pq += double(p_[i]) * double(sum);
      if constexpr (general) pp += double(p_[i]) * double(p_[i]);
    });
    return pq;
  }
  __device__ void advance() {}
  __device__ void shrink(V alpha, std::uint64_t stamp, double& rr, double& rz) {
    alpha_ = alpha;
    const auto remain = [&](int i) {
      const V r = r_[i] - alpha * q_[i];
      rr += double(r) * double(r);
      return r_[i] = r;
    };
    m_.apply(r_, remain, [&](int i, V z) {
      post(g_.z + at_.first + i, z, static_cast<stamp_type>(stamp));
      z_[i] = z;
      rz += double(r_[i]) * double(z);
    });
  }
  __device__ void gather(std::uint64_t stamp) {
    gather_halo(g_, at_, g_.z, stamp, [&](int i, V z) { far_z_[i] = z; });
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
  __device__ shared_share(const arguments_type& g, shelf own)
      : g_(g), at_(g, int(blockIdx.x) - 1), p_(own.take<V>(at_.rows + at_.halo)), x_(own.take<V>(at_.rows)),
        r_(own.take<V>(at_.rows)), q_(own.take<V>(at_.rows)), z_(own.take<V>(at_.rows)), far_z_(own.take<V>(at_.halo)),
        m_(g, at_, own), rows_(g, at_, own) {
    for (int i = thread(); i < at_.rows; i += threads)
      x_[i] = g.x[at_.first + i], r_[i] = g.r[at_.first + i], p_[i] = g.p[at_.first + i];
    for (int i = thread(); i < at_.halo; i += threads) p_[at_.rows + i] = g.p[g.halo[at_.far + i]];
  }
  static __device__ int thread() { return static_cast<int>(threadIdx.x); }

  const arguments_type& g_;
  place at_;
  V *p_, *x_, *r_, *q_, *z_, *far_z_;
  M m_;
  shared_rows<V> rows_;
  V alpha_ = 0;
};

/// For few rows: only p in shared memory. The first lane of a row keeps what is not its entries, and a thread at most
/// `gather_batch` elements of the halo.
template <class V, int entries> class register_share {
  using stamp_type = typename word<V>::stamp_type;

public:
  using value = V;
  using arguments_type = arguments<V>;
  static constexpr bool general = false;

  __device__ register_share(const arguments<V>& g, unsigned char* room)
      : g_(g), at_(g, int(blockIdx.x) - 1), rows_(g, at_), p_(shelf(room).take<V>(at_.rows + at_.halo)) {
    if (rows_.owner()) {
      const index_t row = at_.first + rows_.row();
      x_ = g.x[row], r_ = g.r[row], p_now_ = g.p[row];
      d_ = g.d.size ? g.d[row] : V(1);
      p_[rows_.row()] = p_now_;
    }
    for (int i = static_cast<int>(threadIdx.x); i < at_.halo; i += threads) p_[at_.rows + i] = g.p[g.halo[at_.far + i]];
  }

  __device__ double multiply(double&) {
    q_ = rows_.multiply(p_);
    return rows_.owner() ? double(p_now_) * double(q_) : 0;
  }
  __device__ void advance() {
    x_ = x_ + alpha_ * p_before_;
    alpha_ = 0;
  }
  __device__ void shrink(V alpha, std::uint64_t stamp, double& rr, double& rz) {
    next_alpha_ = alpha;
    if (!rows_.owner()) return;
    r_ = r_ - alpha * q_, z_ = d_ * r_;
    post(g_.z + at_.first + rows_.row(), z_, static_cast<stamp_type>(stamp));
    rr = double(r_) * double(r_), rz = double(r_) * double(z_);
  }
  __device__ void gather(std::uint64_t stamp) { gather_few(g_, at_, g_.z, gathers(), stamp, far_z_); }
  __device__ void turn(V beta) {
    p_before_ = p_now_, alpha_ = next_alpha_;
    if (rows_.owner()) p_now_ = z_ + beta * p_now_, p_[rows_.row()] = p_now_;
    each_of_few(at_, [&](int k, int i) { p_[at_.rows + i] = far_z_[k] + beta * p_[at_.rows + i]; });
  }
  __device__ void store() {
    advance();
    const index_t row = at_.first + rows_.row();
    if (rows_.owner()) g_.x[row] = x_, g_.r[row] = r_, g_.p[row] = p_now_;
  }

private:
  const arguments<V>& g_;
  place at_;
  register_rows<V, entries> rows_;
  V* p_;
  V x_ = 0, r_ = 0, d_ = 0, q_ = 0, z_ = 0, p_now_ = 0, p_before_ = 0, alpha_ = 0, next_alpha_ = 0;
  V far_z_[gather_batch] = {};
};

/// The kernel for a plan.
template <class V, class Until> auto kernel_for(const plan& p) {
  static_assert(std::size(register_sizes) == 2 && register_sizes[0] == 4 && register_sizes[1] == 8);
  return p.registers == 4   ? steps_kernel<register_share<V, 4>, Until>
         : p.registers == 8 ? steps_kernel<register_share<V, 8>, Until>
                            : steps_kernel<shared_share<V, diagonal_on_chip<V>>, Until>;
}

} // namespace furrow::resident
