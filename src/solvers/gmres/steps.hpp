// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/control.hpp"
#include "solvers/pass.hpp"
#include "solvers/quotient.hpp"

/// The passes of GMRES, and the small triangular system that it carries beside the vectors.
namespace furrow::gmres_steps {

enum slot_name : int {
  columns = control::own_slot, ///< steps of this cycle, and the number of the newest vector
  used,                        ///< vectors that the next step is made orthogonal to
  squares,                     ///< |w|^2 before
  left,                        ///< and after the first orthogonalisation
  scale,                       ///< 1 / |w| in the end; 0 where nothing is left of it
  arrays
};

enum verdict : int { lost_column = control::own_verdict };

/// Where the numbers of a cycle of `m` steps lie.
struct numbers {
  double* s;
  int m;

  FURROW_HD double* h() const { return s + arrays; }        ///< V'w, of the first orthogonalisation
  FURROW_HD double* g() const { return h() + m; }           ///< of the second one
  FURROW_HD double* cosines() const { return g() + m; }     ///< rotations that make the Hessenberg matrix triangular
  FURROW_HD double* sines() const { return cosines() + m; } //
  FURROW_HD double* rhs() const { return sines() + m; }     ///< |r| e_1, rotated: m + 1
  FURROW_HD double* y() const { return rhs() + m + 1; }     ///< R y = rhs
  FURROW_HD double* column(int j) const { return y() + m + index_t(j) * (j + 1) / 2; } ///< of R
  static int count(int m) { return int(arrays) - int(control::own_slot) + 6 * m + 1 + m * (m + 1) / 2; }
};

/// The numbers of a first step.
struct begin_cycle {
  numbers n;
  FURROW_HD void operator()() const {
    n.s[columns] = 0;
    n.s[used] = 1;
    n.rhs()[0] = sqrt(n.s[control::rr]);
    n.s[scale] = n.rhs()[0] > 0 ? 1 / n.rhs()[0] : 0;
  }
};

/// Appends the column h + g, |w| to the Hessenberg matrix, rotates it into R, and says the new |r|^2. What is left of w
/// below rounding is nothing: the Krylov space is exhausted then, or R singular.
struct rotate {
  numbers n;
  double rounding; ///< of a component of w, over |w|

  FURROW_HD void operator()() const {
    const int j = int(n.s[columns]);
    double* const r = n.column(j);
    double rest = n.s[left];
    for (int k = 0; k <= j; ++k) {
      r[k] = n.h()[k] + n.g()[k];
      rest -= n.g()[k] * n.g()[k];
    }
    const double nothing = rounding * sqrt(n.s[squares]);
    double below = rest > 0 ? sqrt(rest) : 0;
    if (below <= nothing) below = 0;
    double upper = r[0];
    for (int k = 0; k < j; ++k) {
      const double c = n.cosines()[k], s = n.sines()[k], lower = r[k + 1];
      r[k] = c * upper + s * lower;
      upper = c * lower - s * upper;
    }
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

/// y of the columns so far. A column that was lost has no part in x.
struct solve_triangle {
  numbers n;
  FURROW_HD void operator()() const {
    for (int i = int(n.s[columns]) - 1; i >= 0; --i) {
      double sum = n.rhs()[i];
      for (int k = int(n.s[columns]) - 1; k > i; --k) sum -= n.column(k)[i] * n.y()[k];
      n.y()[i] = n.column(i)[i] != 0 ? sum / n.column(i)[i] : 0;
    }
  }
};

struct judge {
  numbers n;

  FURROW_HD int before() const {
    if (!isfinite(n.s[squares]) || !isfinite(n.s[left])) return control::not_finite;
    const int j = int(n.s[columns]) - 1;
    return n.s[scale] == 0 && n.column(j)[j] == 0 ? int(lost_column) : int(control::running);
  }
  FURROW_HD int after() const {
    n.s[used] = n.s[columns] + 1;
    return int(n.s[columns]) == n.m ? control::cycle_ended : control::running;
  }
};

/// v = r / |r|, kept as the first vector of the basis; the x of the cycle is kept. v is what was kept, which may be
/// rounded: the Krylov space is that of the vectors that x is made of.
template <class V> struct begin {
  scalar size;
  FURROW_HD void load() { size.load(); }
  template <class E> FURROW_HD void operator()(V& v, E& first, V& kept, V r, V x, sums<0>) const {
    first = E(size * double(r));
    v = V(first);
    kept = x;
  }
};

/// v = (w - V g) / |w|, kept as the next vector of the basis.
template <class V> struct advance {
  scalar size;
  FURROW_HD void load() { size.load(); }
  template <class E> FURROW_HD void operator()(V along, V w, V& v, E& next, sums<0>) const {
    next = E(size * double(w - along));
    v = V(next);
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
