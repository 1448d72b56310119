// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/control.hpp"
#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

/// The passes of GMRES, and the small triangular system that it carries beside the vectors.
namespace furrow::gmres_steps {

enum slot_name : int {
  columns = control::own_slot, ///< steps of this cycle, which are the vectors of V
  squares,                     ///< |w|^2 before
  left,                        ///< and after it is made orthogonal
  scale,                       ///< 1 / |r| at the beginning of a cycle; 0 where nothing is left of w
  length,                      ///< of u once it is orthogonal to V: alpha
  along,                       ///< v'w of the vector that u becomes: tau
  stretch,                     ///< of what is left of w: sigma
  rest,                        ///< |u|^2 of the next u
  arrays
};

enum verdict : int { lost_column = control::own_verdict };

/// Where the numbers of a cycle of `m` steps lie.
struct numbers {
  double* s;
  int m;

  FURROW_HD double* g() const { return s + arrays; } ///< of `project_two`: 2 m + 4
  FURROW_HD double uu() const { return g()[1]; }
  FURROW_HD double uw() const { return g()[2]; }
  FURROW_HD double ww() const { return g()[3]; }
  FURROW_HD double* pairs() const { return g() + 4; }           ///< v_i'u and v_i'w
  FURROW_HD double* cosines() const { return g() + 2 * m + 4; } ///< rotations that make H triangular
  FURROW_HD double* sines() const { return cosines() + m; }     //
  FURROW_HD double* rhs() const { return sines() + m; }         ///< |r| e_1, rotated: m + 1
  FURROW_HD double* y() const { return rhs() + m + 1; }         ///< R y = rhs
  FURROW_HD double* column(int j) const { return y() + m + index_t(j) * (j + 1) / 2; }  ///< of R
  FURROW_HD double* shape(int j) const { return column(m) + index_t(j) * (j + 1) / 2; } ///< column of S
  static int count(int m) { return int(arrays) - int(control::own_slot) + 6 * m + 5 + m * (m + 1); }
};

/// The numbers of a first step.
struct begin_cycle {
  numbers n;
  FURROW_HD void operator()() const {
    n.s[columns] = 0;
    n.rhs()[0] = sqrt(n.s[control::rr]);
    n.s[scale] = n.rhs()[0] > 0 ? 1 / n.rhs()[0] : 0;
  }
};

/// Appends a column, V'w and |w| once it is orthogonal, to the Hessenberg matrix, rotates it into R, and says the new
/// |r|^2. What is left of w below rounding is nothing: the Krylov space is exhausted then, or R singular.
struct rotate {
  numbers n;
  double rounding;                ///< of a component of w, over |w|
  static constexpr int batch = 8; ///< rotations that are read before the first of them is used

  FURROW_HD void operator()() const {
    const int j = int(n.s[columns]);
    double* const r = n.column(j);
    double* const shape = n.shape(j);
    const double *const cosines = n.cosines(), *const sines = n.sines(), *const pairs = n.pairs();
    const double newest = n.s[along];
    double upper = j > 0 ? pairs[1] : newest;
    for (int first = 0; first < j; first += batch) {
      double c[batch] = {}, s[batch] = {}, lower[batch] = {}, kept[batch] = {};
      for (int i = 0; i < batch; ++i) {
        const int k = first + i;
        if (k >= j) continue;
        c[i] = cosines[k];
        s[i] = sines[k];
        kept[i] = pairs[2 * k];
        lower[i] = k + 1 < j ? pairs[2 * k + 3] : newest;
      }
      for (int i = 0; i < batch; ++i) {
        if (first + i >= j) continue;
        shape[first + i] = kept[i];
        r[first + i] = c[i] * upper + s[i] * lower[i];
        upper = c[i] * lower[i] - s[i] * upper;
      }
    }
    shape[j] = n.s[length];
    n.s[squares] = n.ww();
    double below = n.s[stretch] > 0 ? sqrt(n.s[rest]) / n.s[stretch] : 0;
    n.s[left] = isfinite(n.s[rest]) ? below * below : n.s[rest];
    const double nothing = rounding * sqrt(n.s[squares]);
    if (below <= nothing) below = 0;
    const double size = hypot(upper, below);
    const bool lost = size <= nothing;
    const double c = lost ? 0 : upper / size, s = lost ? 1 : below / size;
    r[j] = lost ? 0 : size;
    n.cosines()[j] = c;
    n.sines()[j] = s;
    n.rhs()[j + 1] = -s * n.rhs()[j];
    n.rhs()[j] *= c;
    n.s[control::rr] = n.rhs()[j + 1] * n.rhs()[j + 1];
    n.s[scale] = below > 0 ? 1 / below : 0;
    n.s[columns] = j + 1;
  }
};

/// y of the columns so far, by what A M was applied to; without `by_kept` by the vectors of V: S y. A column that was
/// lost has no part in x.
struct solve_triangle {
  numbers n;
  bool by_kept;
  FURROW_HD void operator()() const {
    const int count = int(n.s[columns]);
    double* const y = n.y();
    for (int i = count - 1; i >= 0; --i) {
      double sum = n.rhs()[i];
      for (int k = count - 1; k > i; --k) sum -= n.column(k)[i] * y[k];
      y[i] = n.column(i)[i] != 0 ? sum / n.column(i)[i] : 0;
    }
    if (by_kept) return;
    for (int i = 0; i < count; ++i) {
      double sum = 0;
      for (int k = i; k < count; ++k) sum += n.shape(k)[i] * y[k];
      y[i] = sum;
    }
  }
};

struct judge {
  numbers n;
  double rounding;

  FURROW_HD void prepare() const { rotate{n, rounding}(); }
  FURROW_HD int before() const {
    if (!isfinite(n.s[squares]) || !isfinite(n.s[left])) return control::not_finite;
    const int j = int(n.s[columns]) - 1;
    return n.s[scale] == 0 && n.column(j)[j] == 0 ? int(lost_column) : int(control::running);
  }
  FURROW_HD int after() const { return int(n.s[columns]) == n.m ? control::cycle_ended : control::running; }
};

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
