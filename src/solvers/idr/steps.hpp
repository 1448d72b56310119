// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/control.hpp"
#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

/// The passes of IDR(s), and the small triangular system that it carries beside the vectors.
namespace furrow::idr_steps {

enum slot_name : int {
  squares = control::own_slot, ///< |g|^2 of the newest product, before g is made orthogonal
  losses,                      ///< directions of this cycle that are nothing beside P'A u
  lost,                        ///< p'g of the first of them
  tr,                          ///< t'r, t't, r'r at the end of a cycle
  tt,
  before,
  omega,
  arrays
};

enum verdict : int { lost_direction = control::own_verdict, lost_step };

/// The cosine of t and r below which omega is made longer, see `choose_omega`.
inline constexpr double least_cosine = 0.7;
inline constexpr double double_epsilon = 0x1p-52; ///< of the sums

/// Where the numbers of `s` shadow vectors lie.
struct numbers {
  double* at;
  int s;

  FURROW_HD double* f() const { return at + arrays; }                        ///< P'r
  FURROW_HD double* c() const { return f() + s; }                            ///< L c = f
  FURROW_HD double* h() const { return c() + s; }                            ///< P'A u
  FURROW_HD double* taken() const { return h() + s; }                        ///< what g_k takes of those before it
  FURROW_HD double* strides() const { return taken() + s; }                  ///< r -= G strides
  FURROW_HD double* counts() const { return strides() + s; }                 ///< 0, 1, ..., s
  FURROW_HD double* column(int k) const { return counts() + s + 1 + k * s; } ///< of L = P'G, lower triangular
  static int count(int s) { return int(arrays) - int(control::own_slot) + 6 * s + 1 + s * s; }

  /// L y = b for the directions from `first` on and before `last`; those that are lost have no part.
  FURROW_HD void solve(int first, int last, const double* b, double* y) const {
    for (int i = first; i < last; ++i) {
      double sum = b[i];
      for (int j = first; j < i; ++j) sum -= column(j)[i] * y[j];
      y[i] = column(i)[i] != 0 ? sum / column(i)[i] : 0;
    }
  }
};

/// L = I, omega = 1.
struct reset {
  numbers n;
  FURROW_HD void operator()() const {
    for (int k = 0; k < n.s; ++k)
      for (int i = 0; i < n.s; ++i) n.column(k)[i] = i == k;
    for (int k = 0; k <= n.s; ++k) n.counts()[k] = k;
    n.at[omega] = 1;
  }
};

/// 1 / |p| of a shadow vector that is made orthogonal to those before it, from |p|^2 and what it loses; in the slot of
/// omega.
struct normalise {
  numbers n;
  int k;
  FURROW_HD void operator()() const {
    double rest = n.at[squares];
    for (int j = 0; j < k; ++j) rest -= n.h()[j] * n.h()[j];
    n.at[omega] = rest > 0 ? 1 / sqrt(rest) : 0;
  }
};

/// The first c of a cycle: r - G c is orthogonal to P.
struct begin_cycle {
  numbers n;
  FURROW_HD void operator()() const {
    n.at[losses] = 0;
    n.solve(0, n.s, n.f(), n.c());
  }
};

/// From h = P'A u: what g_k takes of the g before it, to be orthogonal to p_0 .. p_(k-1); the column P'g_k of L; the
/// stride along g_k, which makes r orthogonal to p_k; the next c. A g_k whose part along p_k is nothing beside P'A u
/// is lost: it takes no stride, and nothing is taken of it.
struct advance {
  numbers n;
  int k;
  double rounding; ///< of p'g, over |P'A u|

  FURROW_HD void operator()() const {
    double* const column = n.column(k);
    n.solve(0, k, n.h(), n.taken());
    for (int i = k; i < n.s; ++i) {
      column[i] = n.h()[i];
      for (int j = 0; j < k; ++j) column[i] -= n.column(j)[i] * n.taken()[j];
    }
    for (int i = 0; i < k; ++i) column[i] = 0;
    double nothing = 0;
    for (int i = 0; i < n.s; ++i) nothing = hypot(nothing, rounding * n.h()[i]);
    nothing = fmax(nothing, double_epsilon * sqrt(n.at[squares]));
    n.strides()[k] = 0;
    if (fabs(column[k]) <= nothing) {
      if (n.at[losses] == 0) n.at[lost] = column[k];
      n.at[losses] += 1;
      for (int i = k; i < n.s; ++i) column[i] = 0;
    } else {
      n.strides()[k] = n.f()[k] / column[k];
      for (int i = k; i < n.s; ++i) n.f()[i] -= n.strides()[k] * column[i];
    }
    n.solve(k + 1, n.s, n.f(), n.c());
  }
};

/// omega makes |r - omega t| least, but is made longer where t and r are so nearly orthogonal that the next cycle would
/// lose its digits (G. L. G. Sleijpen, H. A. van der Vorst, Maintaining convergence properties of BiCGstab methods in
/// finite precision arithmetic, 1995).
struct choose_omega {
  double* s;
  FURROW_HD void operator()() const {
    const double least = s[tt] > 0 ? least_cosine * sqrt(s[before] / s[tt]) : 0;
    s[omega] = s[tt] > 0 ? s[tr] / s[tt] : 0;
    if (fabs(s[omega]) < least) s[omega] = s[tr] < 0 ? -least : least;
  }
};

struct judge {
  numbers n;

  FURROW_HD int before() const {
    for (const double* s = n.at + squares; s < n.counts(); ++s)
      if (!isfinite(*s)) return control::not_finite;
    return control::running;
  }
  FURROW_HD int after() const {
    if (n.at[tt] == 0) return lost_step;
    return n.at[losses] > 0 ? int(lost_direction) : int(control::running);
  }
};

/// p = (p - P h) / |p|.
template <class V> struct shape_shadow {
  scalar size;
  FURROW_HD void load() { size.load(); }
  FURROW_HD void operator()(V along, V& p, sums<0>) const { p = V(size * double(p - along)); }
};

/// v = r - G c, or d times that.
template <class V> struct leave {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V along, V& v, V r, sums<0>) const { v = r - along; }
  FURROW_HD void operator()(V along, V& v, V r, V d, sums<0>) const { v = d * (r - along); }
};

/// u = U c + omega z.
template <class V> struct point {
  scalar omega;
  FURROW_HD void load() { omega.load(); }
  FURROW_HD void operator()(V along, V& u, V z, sums<0>) const { u = along + V(omega) * z; }
};

/// g -= G taken; r -= stride g.
template <class V> struct descend {
  scalar stride;
  FURROW_HD void load() { stride.load(); }
  FURROW_HD void operator()(V along, V& g, V& r, sums<0>) const {
    g = g - along;
    r = r - V(stride) * g;
  }
};

/// u -= U taken.
template <class V> struct subtract {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V along, V& u, sums<0>) const { u = u - along; }
};

/// Sums t'r, t't, r'r.
template <class V> struct measure_step {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V t, V r, sums<3> sum) const {
    sum[0] += double(t) * double(r);
    sum[1] += double(t) * double(t);
    sum[2] += double(r) * double(r);
  }
};

/// x += U strides + omega z, where z is r or a vector of its own; r -= omega t; sums r'r.
template <class V> struct finish {
  scalar omega;
  FURROW_HD void load() { omega.load(); }
  FURROW_HD void operator()(V along, V& x, V& r, V t, sums<1> sum) const { (*this)(along, x, r, t, r, sum); }
  FURROW_HD void operator()(V along, V& x, V& r, V t, V z, sums<1> sum) const {
    x = x + along + V(omega) * z;
    r = r - V(omega) * t;
    sum[0] += double(r) * double(r);
  }
};

} // namespace furrow::idr_steps
