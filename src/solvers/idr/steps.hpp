// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/control.hpp"
#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

/// The passes of IDR(s), and the small systems that it carries beside the vectors.
namespace furrow::idr_steps {

enum slot_name : int {
  omega = control::own_slot,
  beta,
  rr, ///< r.r, t.r, t.t before the last move
  tr,
  tt,
  unused, ///< w.w, which a projection sums beside
  lost,   ///< the verdict of what vanished inside the cycle; 0: nothing
  arrays
};

enum verdict : int { lost_shadow = control::own_verdict, lost_step };

/// Where the numbers lie.
struct numbers {
  double* s;
  int m; ///< vectors of the shadow space, the s of IDR(s)

  FURROW_HD double* counts() const { return s + arrays; }                ///< 0, 1, ..., m
  FURROW_HD double* f() const { return counts() + m + 1; }               ///< P'r
  FURROW_HD double* h() const { return f() + m; }                        ///< P'g
  FURROW_HD double* c() const { return h() + m; }                        ///< coefficients of a combination
  FURROW_HD double& M(int i, int k) const { return c()[m + i * m + k]; } ///< P'G, lower triangular
  static int count(int m) { return int(arrays) - int(control::own_slot) + 4 * m + 1 + m * m; }
};

/// The numbers of a first cycle: G = U = 0, and M = I stands for no G at all.
struct begin_scalars {
  numbers n;
  FURROW_HD void operator()() const {
    for (int i = 0; i <= n.m; ++i) n.counts()[i] = i;
    for (int i = 0; i < n.m; ++i)
      for (int k = 0; k < n.m; ++k) n.M(i, k) = i == k;
    n.s[omega] = 1;
    n.s[lost] = 0;
  }
};

/// M(k:, k:) c = f(k:); c lies at its own indices.
struct solve_from {
  numbers n;
  int k;
  FURROW_HD void operator()() const {
    for (int i = k; i < n.m; ++i) {
      double sum = n.f()[i];
      for (int j = k; j < i; ++j) sum -= n.M(i, j) * n.c()[j];
      n.c()[i] = n.M(i, i) != 0 ? sum / n.M(i, i) : 0;
    }
  }
};

/// c makes g - G(:, :k) c orthogonal to the first k vectors of P; column k of M; beta takes p_k'r to 0.
struct append {
  numbers n;
  int k;
  FURROW_HD void operator()() const {
    for (int i = 0; i < k; ++i) {
      double sum = n.h()[i];
      for (int j = 0; j < i; ++j) sum -= n.M(i, j) * n.c()[j];
      n.c()[i] = n.M(i, i) != 0 ? sum / n.M(i, i) : 0;
    }
    for (int i = k; i < n.m; ++i) {
      double sum = n.h()[i];
      for (int j = 0; j < k; ++j) sum -= n.M(i, j) * n.c()[j];
      n.M(i, k) = sum;
    }
    const double pivot = n.M(k, k);
    if (pivot == 0 && n.f()[k] != 0 && n.s[lost] == 0) n.s[lost] = lost_shadow;
    n.s[beta] = pivot != 0 ? n.f()[k] / pivot : 0;
    n.f()[k] = 0;
    for (int i = k + 1; i < n.m; ++i) n.f()[i] -= n.s[beta] * n.M(i, k);
  }
};

/// omega makes |r - omega t| least, but stays away from 0: as if r and t made an angle with a cosine of 0.7 at least.
struct minimise {
  numbers n;
  FURROW_HD void operator()() const {
    double* const s = n.s;
    const double least = 0.7 * sqrt(s[rr] * s[tt]);
    double cross = s[tr];
    if (fabs(cross) < least) cross = cross < 0 ? -least : least;
    if (!(s[tt] > 0) && s[rr] > 0 && s[lost] == 0) s[lost] = lost_step;
    s[omega] = s[tt] > 0 ? cross / s[tt] : 0;
  }
};

struct judge {
  double* s;

  FURROW_HD int before() const {
    if (!isfinite(s[beta]) || !isfinite(s[omega])) return control::not_finite;
    return int(s[lost]);
  }
  FURROW_HD int after() const { return control::running; }
};
static_assert(control::running == 0);

/// v = r - G c.
template <class V> struct reduce {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V along, V r, V& v, sums<0>) const { v = r - along; }
};

/// u = U c + omega z.
template <class V> struct point {
  scalar omega;
  FURROW_HD void load() { omega.load(); }
  FURROW_HD void operator()(V along, V z, V& u, sums<0>) const { u = along + V(omega) * z; }
};

/// g = w - G c;  r -= beta g.
template <class V> struct shrink {
  scalar beta;
  FURROW_HD void load() { beta.load(); }
  FURROW_HD void operator()(V along, V w, V& g, V& r, sums<0>) const {
    g = w - along;
    r = r - V(beta) * g;
  }
};

/// u -= U c;  x += beta u.
template <class V> struct advance {
  scalar beta;
  FURROW_HD void load() { beta.load(); }
  FURROW_HD void operator()(V along, V& u, V& x, sums<0>) const {
    u = u - along;
    x = x + V(beta) * u;
  }
};

/// Sums r.r, t.r, t.t.
template <class V> struct measure_products {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V r, V t, sums<3> sum) const {
    sum[0] += double(r) * double(r);
    sum[1] += double(t) * double(r);
    sum[2] += double(t) * double(t);
  }
};

/// x += omega z;  r -= omega t; sums r.r.
template <class V> struct finish {
  scalar omega;
  FURROW_HD void load() { omega.load(); }
  FURROW_HD void operator()(V& x, V& r, V z, V t, sums<1> sum) const {
    x = x + V(omega) * z;
    r = r - V(omega) * t;
    sum[0] += double(r) * double(r);
  }
};

} // namespace furrow::idr_steps
