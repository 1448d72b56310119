// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "triangle.hpp"

#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

/// The passes of GMRES.
namespace furrow::gmres_steps {

/// u = r / |r|; the x of the cycle is kept.
template <class V> struct begin {
  scalar size;
  FURROW_HD void load() { size.load(); }
  FURROW_HD void operator()(V& u, V& kept, V r, V x, sums<0>) const {
    u = V(size * double(r));
    kept = x;
  }
};

/// v = (u - V s) / alpha, kept as the next vector of V;  u = sigma (w - V t - tau v); sums u'u. With |w|^2 less what
/// lies along V for the square of what is left, u has length 1 where that difference has digits, and is no longer than
/// 1e7 where it has none.
template <class V> struct advance {
  numbers n;
  double alpha = 0, inverse = 0, tau = 0, sigma = 0;

  FURROW_HD void load(const pair_products& p) {
    const double own = n.uu() - p.aa, ww = n.ww();
    alpha = own > 0 ? sqrt(own) : 0;
    inverse = own > 0 ? 1 / alpha : 0;
    tau = (n.uw() - p.ab) * inverse;
    const double expected = ww - p.bb - tau * tau, least = 1e-14 * ww;
    sigma = ww > 0 ? 1 / sqrt(expected > least ? expected : least) : 0;
  }
  FURROW_HD void tell() const {
    n.s[length] = alpha;
    n.s[along] = tau;
    n.s[stretch] = sigma;
  }
  template <class E> FURROW_HD void operator()(V s, V t, V& u, V w, E& next, sums<1> sum) const {
    next = E(inverse * double(u - s));
    u = V(sigma * (double(w - t) - tau * double(next)));
    sum[0] += double(u) * double(u);
  }
};

/// z is kept.
template <class V> struct keep {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V& kept, V z, sums<0>) const { kept = z; }
};

/// x = the x of the cycle + z, or + d z.
template <class V> struct move {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V z, V& x, V kept, sums<0>) const { x = kept + z; }
  FURROW_HD void operator()(V z, V& x, V kept, V d, sums<0>) const { x = kept + d * z; }
};

/// u = V y.
template <class V> struct take {
  FURROW_HD void load() {}
  FURROW_HD void operator()(V along, V& u, sums<0>) const { u = along; }
};

} // namespace furrow::gmres_steps
