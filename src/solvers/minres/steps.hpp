// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/control.hpp"
#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

/// The passes of MINRES and its scalars, named as in C. C. Paige, M. A. Saunders, 1975. Passes come for M = I, for a
/// diagonal M and for a stored M r, told apart by their arguments.
namespace furrow::minres_steps {

enum slot_name : int {
  alfa = control::own_slot, ///< v'A v
  squares,                  ///< r2'M r2, of the next Lanczos vector
  smallest,                 ///< of those
  beta,                     ///< its root, of the newest Lanczos vector
  old_beta,                 ///< of the one before
  dbar,
  epsln,
  phibar, ///< |r| in M
  cs,
  sn,
  norm_squares, ///< of the tridiagonal matrix
  old_epsln,    ///< from here on: coefficients of the pass over x
  delta,
  gamma,
  phi,
  shrinks, ///< sn^2
  turns,   ///< phibar cs / beta
  one,
  rr_first, ///< |r|^2 of the first step
  xx_first, ///< |x|^2
  xx,       ///< now
  slot_end
};
inline constexpr int slot_count = int(slot_end) - int(control::own_slot);

enum verdict : int { negative_m = control::own_verdict, lost_direction, outgrown };

/// The scalars of a first step, from r'M r.
struct reset {
  double* s;
  FURROW_HD void operator()() const {
    s[smallest] = s[squares];
    s[beta] = s[phibar] = s[squares] > 0 ? sqrt(s[squares]) : 0;
    s[old_beta] = s[dbar] = s[epsln] = s[norm_squares] = 0;
    s[cs] = -1;
    s[sn] = 0;
    s[one] = 1;
    s[rr_first] = s[control::rr];
  }
};

/// The next column of the tridiagonal matrix, and the reflection that makes it triangular. Where |A r|, which is phibar
/// |(gbar, dbar)| in the norms of M (S.-C. T. Choi, C. C. Paige, M. A. Saunders, MINRES-QLP, 2011, (3.6)), is nothing
/// beside |A| |r|, r lies in the null space: there is no step.
struct reflect {
  double* s;
  double rounding; ///< |A r| below this part of |A| |r| is nothing

  FURROW_HD void operator()() const {
    if (s[squares] < s[smallest]) s[smallest] = s[squares];
    const double next = s[squares] > 0 ? sqrt(s[squares]) : 0;
    s[norm_squares] += s[alfa] * s[alfa] + s[beta] * s[beta] * (s[old_beta] > 0 ? 1 : 0) + next * next;
    s[old_beta] = s[beta];
    s[beta] = next;
    s[old_epsln] = s[epsln];
    s[delta] = s[cs] * s[dbar] + s[sn] * s[alfa];
    const double gbar = s[sn] * s[dbar] - s[cs] * s[alfa];
    s[epsln] = s[sn] * next;
    s[dbar] = -s[cs] * next;
    const bool lost = hypot(gbar, s[dbar]) <= rounding * sqrt(s[norm_squares]);
    s[gamma] = lost ? 0 : hypot(gbar, next);
    s[cs] = s[gamma] > 0 ? gbar / s[gamma] : 1;
    s[sn] = s[gamma] > 0 ? next / s[gamma] : 1; // no step: |r| stays
    s[phi] = s[gamma] > 0 ? s[cs] * s[phibar] : 0;
    s[phibar] *= s[sn];
    s[shrinks] = s[sn] * s[sn];
    s[turns] = next > 0 ? s[phibar] * s[cs] / next : 0;
  }
};

/// x has outgrown its precision where the rounding of A x is a thousandth of the first residual: it grows along vectors
/// that A maps to zero, which MINRES does once it is as near to a least-squares answer as roots of rounding allow.
struct judge {
  double* s;
  double rounding; ///< of A x, over |x|

  FURROW_HD int before() const {
    if (!isfinite(s[alfa]) || !isfinite(s[squares])) return control::not_finite;
    if (s[smallest] < 0) return negative_m;
    return s[gamma] > 0 ? int(control::running) : int(lost_direction);
  }
  FURROW_HD int after() const {
    const double growth = sqrt(s[xx]) - sqrt(s[xx_first]);
    return rounding * growth > 1e-3 * sqrt(s[rr_first]) ? int(outgrown) : int(control::running);
  }
};

/// r2 = r; r1 = w = w_old = 0; sums r'M r.
template <class V> struct begin {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& r1, V& r2, V& w, V& w_old, V r, sums<1> sum) const { set(r1, r2, w, w_old, r, r, sum); }
  FURROW_HD void operator()(V& r1, V& r2, V& w, V& w_old, V r, V d, sums<1> sum) const {
    set(r1, r2, w, w_old, r, d * r, sum);
  }

private:
  FURROW_HD void set(V& r1, V& r2, V& w, V& w_old, V r, V z, sums<1> sum) const {
    r2 = r;
    r1 = w = w_old = V(0);
    sum[0] += double(r) * double(z);
  }
};

/// v = M r2 / beta.
template <class V> struct scale {
  quotient size;
  FURROW_HD void load() { size.load(); }
  FURROW_HD void operator()(V& v, V z, sums<0>) const { v = V(size * double(z)); }
  FURROW_HD void operator()(V& v, V r, V d, sums<0>) const { v = V(size * double(d * r)); }
};

/// r2 = q - (alfa / beta) r2 - (beta / old_beta) r1; r1 = r2 of before; sums r2'M r2.
template <class V> struct extend {
  quotient along_old, along;
  FURROW_HD void load() {
    along_old.load();
    along.load();
  }
  FURROW_HD void operator()(V& r1, V& r2, V q, sums<1> sum) const {
    next(r1, r2, q);
    sum[0] += double(r2) * double(r2);
  }
  FURROW_HD void operator()(V& r1, V& r2, V q, V d, sums<1> sum) const {
    next(r1, r2, q);
    sum[0] += double(r2) * double(d * r2);
  }
  FURROW_HD void operator()(V& r1, V& r2, V q, sums<0>) const { next(r1, r2, q); }

private:
  FURROW_HD void next(V& r1, V& r2, V q) const {
    const V before = r2;
    r2 = q - V(along_old) * r1 - V(along) * before;
    r1 = before;
  }
};

/// w = (v - old_epsln w_old - delta w) / gamma; x += phi w; r = sn^2 r - (phibar cs / beta) r2; v = M r2 / beta; sums
/// r'r, x'x. M r2 is r2, d r2, or a vector of its own.
template <class V, bool diagonal = false> struct advance {
  scalar old_epsln, delta, phi, shrinks, turns;
  quotient inverse_gamma, size;
  FURROW_HD void load() {
    old_epsln.load();
    delta.load();
    phi.load();
    shrinks.load();
    turns.load();
    inverse_gamma.load();
    size.load();
  }
  FURROW_HD void operator()(V& v, V& w, V& w_old, V& x, V& r, V r2, sums<2> sum) const {
    move(v, w, w_old, x, r, r2, r2, sum);
  }
  FURROW_HD void operator()(V& v, V& w, V& w_old, V& x, V& r, V r2, V m, sums<2> sum) const {
    move(v, w, w_old, x, r, r2, diagonal ? m * r2 : m, sum);
  }

private:
  FURROW_HD void move(V& v, V& w, V& w_old, V& x, V& r, V r2, V z, sums<2> sum) const {
    const V next = V(inverse_gamma) * (v - V(old_epsln) * w_old - V(delta) * w);
    w_old = w;
    w = next;
    x = x + V(phi) * w;
    r = V(shrinks) * r - V(turns) * r2;
    v = V(size * double(z));
    sum[0] += double(r) * double(r);
    sum[1] += double(x) * double(x);
  }
};

} // namespace furrow::minres_steps
