// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/cg_resident/system.hpp"

/// What a block keeps of a system, and its part of a step of BiCGStab. A share has
///   multiply_p()      v = A p^, posted; a thread's part of r~'v
///   gather_v()        v of other blocks' rows, by all warps but the first two
///   half(alpha)       s = r - alpha v in the place of r, s^ = M s; of the block's rows and of its halo
///   multiply_s()      t = A s^, posted; a thread's parts of `products`
///   gather_t()        t of other blocks' rows
///   full(...)         x += alpha p^ + omega s^, r = s - omega t, p = r + beta (p - omega v), p^ = M p, of the rows and
///   of
///                     the halo; a thread's part of r'r
///   store()           x, r and p to memory
namespace furrow::resident::stabilised {

/// What a run of steps touches beside the chip.
template <class V> struct arguments : system_on_chip<V> {
  view<V> x, r, p;
  cview<V> shadow;
  word<V>*v, *t; ///< of each row
};

/// Sums of the second product.
enum product : int { t_s, t_t, s_s, shadow_s, shadow_t, product_count };
struct products {
  double of[product_count] = {};

  template <class V> __device__ void add(V t, V s, V shadow) {
    of[t_s] += double(t) * double(s), of[t_t] += double(t) * double(t), of[s_s] += double(s) * double(s);
    of[shadow_s] += double(shadow) * double(s), of[shadow_t] += double(shadow) * double(t);
  }
};

/// The numbers of a step.
template <class V> struct strides {
  V alpha, omega, beta;

  /// r = s - omega t, p = r + beta (p - omega v), p^ = d p: an element has the same bits in its row and in each halo.
  __device__ void turn(V& r, V& p, V& in, V v, V t, V d) const {
    r = r - omega * t;
    p = r + beta * (p - omega * v);
    in = d * p;
  }
};

/// Everything in shared memory; the matrix where there is room.
template <class V> class shared_share {
  using stamp_type = typename word<V>::stamp_type;

public:
  __device__ shared_share(const arguments<V>& g, unsigned char* room) : shared_share(g, shelf(room)) {}

  __device__ double multiply_p(std::uint64_t stamp) {
    double sum = 0;
    rows_.multiply(in_, [&](int i, V v) {
      v_[i] = v;
      post(g_.v + at_.first + i, v, static_cast<stamp_type>(stamp));
      sum += double(shadow_[i]) * double(v);
    });
    return sum;
  }
  __device__ void gather_v(std::uint64_t stamp) {
    gather_halo(g_, at_, g_.v, stamp, [&](int i, V v) { far_v_[i] = v; });
  }
  __device__ void half(V alpha) {
    for (int i = thread(); i < at_.rows; i += threads) r_[i] = r_[i] - alpha * v_[i], in_[i] = d_[i] * r_[i];
    V* const in = in_ + at_.rows;
    for (int i = thread(); i < at_.halo; i += threads)
      far_r_[i] = far_r_[i] - alpha * far_v_[i], in[i] = far_d_[i] * far_r_[i];
  }
  __device__ void multiply_s(std::uint64_t stamp, products& sums) {
    rows_.multiply(in_, [&](int i, V t) {
      t_[i] = t;
      post(g_.t + at_.first + i, t, static_cast<stamp_type>(stamp));
      sums.add(t, r_[i], shadow_[i]);
    });
  }
  __device__ void gather_t(std::uint64_t stamp) {
    gather_halo(g_, at_, g_.t, stamp, [&](int i, V t) { far_t_[i] = t; });
  }
  __device__ double full(const strides<V>& by) {
    double rr = 0;
    for (int i = thread(); i < at_.rows; i += threads) {
      x_[i] = x_[i] + by.alpha * (d_[i] * p_[i]) + by.omega * in_[i];
      by.turn(r_[i], p_[i], in_[i], v_[i], t_[i], d_[i]);
      rr += double(r_[i]) * double(r_[i]);
    }
    for (int i = thread(); i < at_.halo; i += threads)
      by.turn(far_r_[i], far_p_[i], in_[at_.rows + i], far_v_[i], far_t_[i], far_d_[i]);
    return rr;
  }
  __device__ void store() const {
    for (int i = thread(); i < at_.rows; i += threads)
      g_.x[at_.first + i] = x_[i], g_.r[at_.first + i] = r_[i], g_.p[at_.first + i] = p_[i];
  }

private:
  __device__ shared_share(const arguments<V>& g, shelf own)
      : g_(g), at_(g, int(blockIdx.x) - 1), in_(own.take<V>(at_.rows + at_.halo)), x_(own.take<V>(at_.rows)),
        r_(own.take<V>(at_.rows)), shadow_(own.take<V>(at_.rows)), p_(own.take<V>(at_.rows)), v_(own.take<V>(at_.rows)),
        t_(own.take<V>(at_.rows)), d_(own.take<V>(at_.rows)), far_r_(own.take<V>(at_.halo)),
        far_p_(own.take<V>(at_.halo)), far_v_(own.take<V>(at_.halo)), far_t_(own.take<V>(at_.halo)),
        far_d_(own.take<V>(at_.halo)), rows_(g, at_, own) {
    for (int i = thread(); i < at_.rows; i += threads) {
      const index_t row = at_.first + i;
      x_[i] = g.x[row], r_[i] = g.r[row], shadow_[i] = g.shadow[row], p_[i] = g.p[row];
      d_[i] = g.d.size ? g.d[row] : V(1);
      in_[i] = d_[i] * p_[i];
    }
    for (int i = thread(); i < at_.halo; i += threads) {
      const index_t row = g.halo[at_.far + i];
      far_r_[i] = g.r[row], far_p_[i] = g.p[row];
      far_d_[i] = g.d.size ? g.d[row] : V(1);
      in_[at_.rows + i] = far_d_[i] * far_p_[i];
    }
  }
  static __device__ int thread() { return static_cast<int>(threadIdx.x); }

  const arguments<V>& g_;
  place at_;
  V *in_, *x_, *r_, *shadow_, *p_, *v_, *t_, *d_, *far_r_, *far_p_, *far_v_, *far_t_, *far_d_;
  shared_rows<V> rows_;
};

/// For few rows: only what A multiplies in shared memory, and the halo. The first lane of a row keeps what is not its
/// entries in registers; of the halo a thread has at most `gather_batch` elements to work out.
template <class V, int entries> class register_share {
  using stamp_type = typename word<V>::stamp_type;

public:
  __device__ register_share(const arguments<V>& g, unsigned char* room)
      : g_(g), at_(g, int(blockIdx.x) - 1), rows_(g, at_) {
    shelf own(room);
    in_ = own.take<V>(at_.rows + at_.halo);
    far_r_ = own.take<V>(at_.halo), far_p_ = own.take<V>(at_.halo);
    far_v_ = own.take<V>(at_.halo), far_d_ = own.take<V>(at_.halo);
    if (rows_.owner()) {
      const index_t row = at_.first + rows_.row();
      x_ = g.x[row], r_ = g.r[row], shadow_ = g.shadow[row], p_ = g.p[row];
      d_ = g.d.size ? g.d[row] : V(1);
      in_[rows_.row()] = d_ * p_;
    }
    each_of_few(at_, [&](int, int i) {
      const index_t row = g.halo[at_.far + i];
      far_r_[i] = g.r[row], far_p_[i] = g.p[row];
      far_d_[i] = g.d.size ? g.d[row] : V(1);
      in_[at_.rows + i] = far_d_[i] * far_p_[i];
    });
  }

  __device__ double multiply_p(std::uint64_t stamp) {
    v_ = rows_.multiply(in_);
    if (!rows_.owner()) return 0;
    post(g_.v + at_.first + rows_.row(), v_, static_cast<stamp_type>(stamp));
    return double(shadow_) * double(v_);
  }
  __device__ void gather_v(std::uint64_t stamp) {
    V v[gather_batch];
    gather_few(g_, at_, g_.v, gathers(), stamp, v);
    each_of_few(at_, [&](int k, int i) { far_v_[i] = v[k]; });
  }
  __device__ void half(V alpha) {
    if (rows_.owner()) {
      r_ = r_ - alpha * v_;
      in_[rows_.row()] = d_ * r_;
    }
    each_of_few(at_, [&](int, int i) {
      far_r_[i] = far_r_[i] - alpha * far_v_[i];
      in_[at_.rows + i] = far_d_[i] * far_r_[i];
    });
  }
  __device__ void multiply_s(std::uint64_t stamp, products& sums) {
    t_ = rows_.multiply(in_);
    if (!rows_.owner()) return;
    post(g_.t + at_.first + rows_.row(), t_, static_cast<stamp_type>(stamp));
    sums.add(t_, r_, shadow_);
  }
  __device__ void gather_t(std::uint64_t stamp) { gather_few(g_, at_, g_.t, gathers(), stamp, far_t_); }
  __device__ double full(const strides<V>& by) {
    if (rows_.owner()) {
      x_ = x_ + by.alpha * (d_ * p_) + by.omega * (d_ * r_);
      by.turn(r_, p_, in_[rows_.row()], v_, t_, d_);
    }
    each_of_few(
        at_, [&](int k, int i) { by.turn(far_r_[i], far_p_[i], in_[at_.rows + i], far_v_[i], far_t_[k], far_d_[i]); });
    return rows_.owner() ? double(r_) * double(r_) : 0;
  }
  __device__ void store() const {
    const index_t row = at_.first + rows_.row();
    if (rows_.owner()) g_.x[row] = x_, g_.r[row] = r_, g_.p[row] = p_;
  }

private:
  const arguments<V>& g_;
  place at_;
  register_rows<V, entries> rows_;
  V *in_, *far_r_, *far_p_, *far_v_, *far_d_;
  V x_ = 0, r_ = 0, shadow_ = 0, p_ = 0, v_ = 0, t_ = 0, d_ = 0;
  V far_t_[gather_batch] = {};
};

} // namespace furrow::resident::stabilised
