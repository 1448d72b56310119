// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/control.hpp"

/// The small triangular system that GMRES carries beside the vectors.
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
  last_stretch,                ///< of the step before
  before_turn,                 ///< of the newest column of H and of the right side, before the newest rotation: what
  rhs_before,                  ///< becomes the diagonal of R, and the last element
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
/// |r|^2. What is left of w below rounding is nothing: the Krylov space is exhausted then, or R singular. The column
/// before, whose u has become a v by now, gets what s corrects: s / sigma, and alpha / sigma below.
struct rotate {
  numbers n;
  double rounding;                ///< of a component of w, over |w|
  static constexpr int batch = 8; ///< rotations that are read before the first of them is used

  FURROW_HD void operator()() const {
    const int j = int(n.s[columns]);
    const double upper = j > 0 ? turn(j, n.column(j)) : n.s[along];
    n.s[squares] = n.ww();
    n.shape(j)[j] = n.s[length];
    const double below = n.s[stretch] > 0 ? sqrt(n.s[rest]) / n.s[stretch] : 0;
    n.s[left] = isfinite(n.s[rest]) ? below * below : n.s[rest];
    n.s[last_stretch] = n.s[stretch];
    n.s[before_turn] = upper;
    n.s[rhs_before] = n.rhs()[j];
    close(j, upper, below);
    n.s[columns] = j + 1;
  }

private:
  /// The rotations before on the newest column and on what s adds to the one before it, which ends that one; returns
  /// the element that the next rotation begins with.
  FURROW_HD double turn(int j, double* r) const {
    double *const shape = n.shape(j), *const last = n.column(j - 1);
    const double *const cosines = n.cosines(), *const sines = n.sines(), *const pairs = n.pairs();
    const double share = 1 / n.s[last_stretch];
    double upper = pairs[1], late = share * pairs[0];
    shape[0] = pairs[0];
    for (int first = 0; first < j - 1; first += batch) {
      double c[batch] = {}, s[batch] = {}, of_s[batch] = {}, of_t[batch] = {}, before[batch] = {};
      for (int i = 0; i < batch; ++i) {
        const int k = first + i;
        if (k >= j - 1) continue;
        c[i] = cosines[k];
        s[i] = sines[k];
        of_s[i] = pairs[2 * k + 2];
        of_t[i] = pairs[2 * k + 3];
        before[i] = last[k];
      }
      for (int i = 0; i < batch; ++i) {
        const int k = first + i;
        if (k >= j - 1) continue;
        shape[k + 1] = of_s[i];
        const double lower = share * of_s[i];
        last[k] = before[i] + (c[i] * late + s[i] * lower);
        late = c[i] * lower - s[i] * late;
        r[k] = c[i] * upper + s[i] * of_t[i];
        upper = c[i] * of_t[i] - s[i] * upper;
      }
    }
    n.rhs()[j - 1] = n.s[rhs_before];
    close(j - 1, n.s[before_turn] + late, share * n.s[length]);
    const double c = cosines[j - 1], s = sines[j - 1], lower = n.s[along];
    r[j - 1] = c * upper + s * lower;
    return c * lower - s * upper;
  }

  /// The rotation of column j, which ends it, on the right side too.
  FURROW_HD void close(int j, double upper, double below) const {
    const double nothing = rounding * sqrt(n.s[squares]);
    if (below <= nothing) below = 0;
    const double size = hypot(upper, below);
    const bool lost = size <= nothing;
    const double c = lost ? 0 : upper / size, s = lost ? 1 : below / size;
    n.column(j)[j] = lost ? 0 : size;
    n.cosines()[j] = c;
    n.sines()[j] = s;
    n.rhs()[j + 1] = -s * n.rhs()[j];
    n.rhs()[j] *= c;
    n.s[control::rr] = n.rhs()[j + 1] * n.rhs()[j + 1];
    n.s[scale] = below > 0 ? 1 / below : 0;
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

} // namespace furrow::gmres_steps
