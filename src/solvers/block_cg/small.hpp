// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/view.hpp>

#include <math.h> // sqrt for host and device code alike

/// Algebra of W x W matrices, W up to 16, in double: one text for a thread of the host and for a block of threads of a
/// GPU. All members of a team call with the same arguments; matrices lie where all of them see them, and have their
/// values when a call returns. What an element is does not depend on the number of members.
namespace furrow::block_cg {

#if defined(__CUDACC__)
#define FURROW_TEAM_FUNCTION static __host__ __device__ __noinline__
#else
#define FURROW_TEAM_FUNCTION [[gnu::noinline]] static
#endif

/// A team of one, which waits for nobody.
struct alone {
  static constexpr int rank = 0, size = 1;
  FURROW_HD void sync() const {}
};

template <int W> struct square {
  double a[W][W];
  FURROW_HD double* operator[](int i) { return a[i]; }
  FURROW_HD const double* operator[](int i) const { return a[i]; }

  static square identity() {
    square m{};
    for (int i = 0; i < W; ++i) m[i][i] = 1;
    return m;
  }
  /// v'A v for v = column j of `c`.
  FURROW_HD double form(const square& c, int j) const {
    double sum = 0;
    for (int p = 0; p < W; ++p) {
      double along = 0;
      for (int q = 0; q < W; ++q) along += a[p][q] * c[q][j];
      sum += c[p][j] * along;
    }
    return sum;
  }
  friend square operator+(square x, const square& y) {
    for (int i = 0; i < W; ++i)
      for (int j = 0; j < W; ++j) x[i][j] += y[i][j];
    return x;
  }
};

/// f(i, j) for every element.
template <int W, class Team, class F> FURROW_HD void each_element(const Team& team, F f) {
  for (int e = team.rank; e < W * W; e += team.size) f(e / W, e % W);
}
/// f(k) for k < W.
template <int W, class Team, class F> FURROW_HD void each_column(const Team& team, F f) {
  for (int k = team.rank; k < W; k += team.size) f(k);
}

template <int W, class Team> FURROW_TEAM_FUNCTION void copy(const Team& team, const square<W>& from, square<W>& to) {
  each_element<W>(team, [&](int i, int j) { to[i][j] = from[i][j]; });
  team.sync();
}

/// z = x y, of x' where `transposed`; z is neither.
template <int W, class Team>
FURROW_TEAM_FUNCTION void multiply(const Team& team, const square<W>& x, const square<W>& y, square<W>& z,
                                   bool transposed = false) {
  const double* const first = &x[0][0];
  const int down = transposed ? 1 : W, along = transposed ? W : 1;
  each_element<W>(team, [&](int i, int j) {
    double sum = 0;
    for (int k = 0; k < W; ++k) sum += first[i * down + k * along] * y[k][j];
    z[i][j] = sum;
  });
  team.sync();
}

/// Whether the same as 0 times each sums to 0: no NaN, no infinity.
template <int W> FURROW_HD bool all_finite(const square<W>& m) {
  double zero = 0;
  for (int i = 0; i < W; ++i)
    for (int j = 0; j < W; ++j) zero += 0 * m[i][j];
  return zero == 0;
}

/// Scratch of a team.
template <int W> struct small_room {
  square<W> a, b, c;
  int order[W];
  bool used[W];
};

/// T = Q factor, Q = T inverse, from G = T'M T: Q has `rank` columns with Q'M Q = I, then zeros. What is dropped of T
/// has norms below the root of `tolerance` times its largest column's.
struct orthonormal {
  int rank = 0;
  double least = 1; ///< the last pivot over the first
};

/// Cholesky's factor of G with pivots (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., 10.3).
/// G is used up.
template <int W, class Team>
FURROW_TEAM_FUNCTION orthonormal orthonormalise(const Team& team, square<W>& g, double tolerance, square<W>& factor,
                                                square<W>& inverse, small_room<W>& room) {
  orthonormal f;
  each_element<W>(team, [&](int i, int j) { factor[i][j] = inverse[i][j] = 0; });
  each_column<W>(team, [&](int k) { room.used[k] = false; });
  team.sync();
  double first = 0;
  for (int& r = f.rank; r < W; ++r) {
    int p = -1; // every member finds the same one
    for (int i = 0; i < W; ++i)
      if (!room.used[i] && (p < 0 || g[i][i] > g[p][p])) p = i;
    const double pivot = g[p][p];
    if (r == 0) first = pivot;
    if (!(pivot > 0 && pivot > tolerance * first)) break;
    f.least = pivot / first;
    const double root = sqrt(pivot);
    each_column<W>(team, [&](int j) {
      if (!room.used[j]) factor[r][j] = g[p][j] / root;
    });
    team.sync();
    if (team.rank == 0) room.used[p] = true, room.order[r] = p;
    each_element<W>(team, [&](int i, int j) {
      if (i != p && j != p && !room.used[i] && !room.used[j]) g[i][j] -= factor[r][i] * factor[r][j];
    });
    team.sync();
  }
  each_column<W>(team, [&](int c) { // column c of the inverse of the triangle, from below
    if (c >= f.rank) return;
    for (int i = c; i >= 0; --i) {
      double sum = i == c;
      for (int k = i + 1; k <= c; ++k) sum -= factor[i][room.order[k]] * inverse[room.order[k]][c];
      inverse[room.order[i]][c] = sum / factor[i][room.order[i]];
    }
  });
  team.sync();
  return f;
}

/// How an inversion ended.
struct inversion {
  double pivot = 1; ///< the one that stopped it
  bool found = true;
};

/// value = D^-1 of the leading `rank` rows and columns of D, zeros elsewhere, as V V' with the columns of V conjugate:
/// V'D V = I. Stops at the first pivot, v'D v, that is not positive beyond its rounding, and leaves that v.
template <int W, class Team>
FURROW_TEAM_FUNCTION inversion invert(const Team& team, const square<W>& d, int rank, double rounding, square<W>& value,
                                      double* v, small_room<W>& room) {
  square<W>&left = room.a, &lower = room.b, &conjugate = room.c; // D = L L', and V = L^-T
  each_element<W>(team, [&](int i, int j) {
    left[i][j] = i == j ? d[i][i] : 0.5 * (d[i][j] + d[j][i]);
    lower[i][j] = conjugate[i][j] = 0;
  });
  team.sync();
  for (int p = 0; p < rank; ++p) {
    const double pivot = left[p][p];
    const bool stops = !(pivot > rounding * d[p][p]);
    const double root = stops ? 1 : sqrt(pivot);
    each_column<W>(team, [&](int i) {
      double vi = i == p;
      for (int k = i; k < p; ++k) vi -= lower[p][k] * conjugate[i][k];
      if (stops) v[i] = vi;
      else conjugate[i][p] = i <= p ? vi / root : 0;
      if (i > p && i < rank) lower[i][p] = left[i][p] / root;
    });
    team.sync();
    if (stops) return {pivot, false};
    each_element<W>(team, [&](int i, int j) {
      if (i > p && j > p && i < rank && j < rank) left[i][j] -= lower[i][p] * lower[j][p];
    });
    team.sync();
  }
  each_element<W>(team, [&](int i, int j) {
    double sum = 0;
    for (int k = 0; k < W; ++k) sum += conjugate[i][k] * conjugate[j][k];
    value[i][j] = sum;
  });
  team.sync();
  return {};
}

} // namespace furrow::block_cg
