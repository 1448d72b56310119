// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "cg_resident.hpp"
#include "kernel.hpp"

/// Shares as in shares.hpp, for an M that is a polynomial in D^-1 A: each term but the first is a product, and a way
/// through the second cache without a sum. Each has words of its own, so that none is written over before sums of all
/// blocks have been there; z of the halo is added up from the terms.
namespace furrow::resident::polynomial {

/// z = M r as `chebyshev_preconditioner::polynomial` has it, in the variables of A:
///   rest = D^-1 r, z = d = first rest;  rest -= D^-1 A d, d = keep d + add rest, z += d;  ...
template <class V> struct coefficients {
  int terms = 0; ///< 1 to most_terms
  V first = 0, keep[most_terms] = {}, add[most_terms] = {};
};

template <class V> struct arguments : system_on_chip<V> {
  view<V> x, r, p;
  coefficients<V> m;
  word<V>* terms; ///< of each row, one behind the other
  index_t rows;

  __device__ word<V>* words(int k) const { return terms + k * rows; }
};

/// Everything in shared memory; the matrix where there is room.
template <class V> class shared_share {
  using stamp_type = typename word<V>::stamp_type;

public:
  using value = V;
  using arguments_type = arguments<V>;
  static constexpr bool general = true;

  __device__ shared_share(const arguments<V>& g, unsigned char* room) : shared_share(g, shelf(room)) {}

  __device__ double multiply(double& pp) {
    double pq = 0;
    rows_.multiply(p_, [&](int i, V sum) {
      q_[i] = sum;
      pq += double(p_[i]) * double(sum), pp += double(p_[i]) * double(p_[i]);
    });
    return pq;
  }
  __device__ void advance() {}
  __device__ void shrink(V alpha, std::uint64_t stamp, double& rr, double& rz) {
    alpha_ = alpha;
    for (int i = thread(); i < at_.rows; i += threads) {
      const V r = r_[i] - alpha * q_[i];
      r_[i] = r, rest_[i] = d_[i] * r, z_[i] = in_[i] = g_.m.first * rest_[i];
      send(0, i, stamp);
      rr += double(r) * double(r);
    }
    for (int k = 1; k < g_.m.terms; ++k) {
      gather_term(k - 1, stamp);
      __syncthreads();
      rows_.multiply(in_, [&](int i, V sum) { q_[i] = sum; });
      __syncthreads();
      extend(k, stamp);
    }
    for (int i = thread(); i < at_.rows; i += threads) rz += double(r_[i]) * double(z_[i]);
  }
  __device__ void gather(std::uint64_t stamp) { gather_term(g_.m.terms - 1, stamp); }
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
  __device__ void extend(int k, std::uint64_t stamp) {
    for (int i = thread(); i < at_.rows; i += threads) {
      rest_[i] = rest_[i] - d_[i] * q_[i];
      in_[i] = g_.m.keep[k] * in_[i] + g_.m.add[k] * rest_[i];
      z_[i] = z_[i] + in_[i];
      send(k, i, stamp);
    }
  }
  __device__ void gather_term(int k, std::uint64_t stamp) {
    if (gathers() >= 0)
      gather_halo(g_, at_, g_.words(k), stamp, [&](int i, V d) {
        in_[at_.rows + i] = d;
        far_z_[i] = k > 0 ? far_z_[i] + d : d;
      });
  }
  __device__ shared_share(const arguments<V>& g, shelf own)
      : g_(g), at_(g, int(blockIdx.x) - 1), p_(own.take<V>(at_.rows + at_.halo)), x_(own.take<V>(at_.rows)),
        r_(own.take<V>(at_.rows)), q_(own.take<V>(at_.rows)), z_(own.take<V>(at_.rows)), d_(own.take<V>(at_.rows)),
        rest_(own.take<V>(at_.rows)), in_(own.take<V>(at_.rows + at_.halo)), far_z_(own.take<V>(at_.halo)),
        rows_(g, at_, own) {
    for (int i = thread(); i < at_.rows; i += threads) {
      x_[i] = g.x[at_.first + i], r_[i] = g.r[at_.first + i], p_[i] = g.p[at_.first + i];
      d_[i] = g.d[at_.first + i] * g.d[at_.first + i];
    }
    for (int i = thread(); i < at_.halo; i += threads) p_[at_.rows + i] = g.p[g.halo[at_.far + i]];
  }
  static __device__ int thread() { return static_cast<int>(threadIdx.x); }
  __device__ void send(int k, int i, std::uint64_t stamp) const {
    post(g_.words(k) + at_.first + i, in_[i], static_cast<stamp_type>(stamp));
  }

  const arguments<V>& g_;
  place at_;
  V *p_, *x_, *r_, *q_, *z_, *d_, *rest_, *in_, *far_z_;
  shared_rows<V> rows_;
  V alpha_ = 0;
};

/// For few rows: only what A multiplies in shared memory. The first lane of a row keeps what is not its entries, and a
/// thread at most `gather_batch` elements of the halo.
template <class V, int entries> class register_share {
  using stamp_type = typename word<V>::stamp_type;

public:
  using value = V;
  using arguments_type = arguments<V>;
  static constexpr bool general = true;

  __device__ register_share(const arguments<V>& g, unsigned char* room)
      : g_(g), at_(g, int(blockIdx.x) - 1), rows_(g, at_) {
    shelf own(room);
    p_ = own.take<V>(at_.rows + at_.halo);
    in_ = own.take<V>(at_.rows + at_.halo);
    if (rows_.owner()) {
      const index_t row = at_.first + rows_.row();
      x_ = g.x[row], r_ = g.r[row], p_now_ = g.p[row];
      d_ = g.d[row] * g.d[row];
      p_[rows_.row()] = p_now_;
    }
    for (int i = static_cast<int>(threadIdx.x); i < at_.halo; i += threads) p_[at_.rows + i] = g.p[g.halo[at_.far + i]];
  }

  __device__ double multiply(double& pp) {
    q_ = rows_.multiply(p_);
    if (!rows_.owner()) return 0;
    pp = double(p_now_) * double(p_now_);
    return double(p_now_) * double(q_);
  }
  __device__ void advance() {}
  __device__ void shrink(V alpha, std::uint64_t stamp, double& rr, double& rz) {
    alpha_ = alpha;
    if (rows_.owner()) {
      r_ = r_ - alpha * q_, rest_ = d_ * r_, z_ = term_ = g_.m.first * rest_;
      send(0, stamp);
    }
    for (int k = 1; k < g_.m.terms; ++k) {
      gather_term(k - 1, stamp);
      __syncthreads();
      q_ = rows_.multiply(in_);
      __syncthreads();
      if (!rows_.owner()) continue;
      rest_ = rest_ - d_ * q_;
      term_ = g_.m.keep[k] * term_ + g_.m.add[k] * rest_;
      z_ = z_ + term_;
      send(k, stamp);
    }
    if (rows_.owner()) rr = double(r_) * double(r_), rz = double(r_) * double(z_);
  }
  __device__ void gather(std::uint64_t stamp) { gather_term(g_.m.terms - 1, stamp); }
  __device__ void turn(V beta) {
    if (rows_.owner()) {
      x_ = x_ + alpha_ * p_now_;
      p_now_ = z_ + beta * p_now_, p_[rows_.row()] = p_now_;
    }
    each_of_few(at_, [&](int k, int i) { p_[at_.rows + i] = far_z_[k] + beta * p_[at_.rows + i]; });
  }
  __device__ void store() const {
    const index_t row = at_.first + rows_.row();
    if (rows_.owner()) g_.x[row] = x_, g_.r[row] = r_, g_.p[row] = p_now_;
  }

private:
  __device__ void gather_term(int k, std::uint64_t stamp) {
    V d[gather_batch] = {};
    if (gathers() < 0) return;
    gather_few(g_, at_, g_.words(k), gathers(), stamp, d);
    each_of_few(at_, [&](int j, int i) {
      in_[at_.rows + i] = d[j];
      far_z_[j] = k > 0 ? far_z_[j] + d[j] : d[j];
    });
  }
  __device__ void send(int k, std::uint64_t stamp) {
    in_[rows_.row()] = term_;
    post(g_.words(k) + at_.first + rows_.row(), term_, static_cast<stamp_type>(stamp));
  }

  const arguments<V>& g_;
  place at_;
  register_rows<V, entries> rows_;
  V *p_, *in_;
  V x_ = 0, r_ = 0, d_ = 0, q_ = 0, z_ = 0, rest_ = 0, term_ = 0, p_now_ = 0, alpha_ = 0;
  V far_z_[gather_batch] = {};
};

/// The kernel for a plan.
template <class V, class Until> auto kernel_for(const plan& p) {
  return p.registers == 4   ? steps_kernel<register_share<V, 4>, Until>
         : p.registers == 8 ? steps_kernel<register_share<V, 8>, Until>
                            : steps_kernel<shared_share<V>, Until>;
}

} // namespace furrow::resident::polynomial
