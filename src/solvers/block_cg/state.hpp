// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "small.hpp"

#include "solvers/control.hpp"

/// What block conjugate gradients know beside their vectors, and what they work out there after each pass: see
/// `block_step` for the letters. A team does it, in host memory or in that of a GPU.
namespace furrow::block_cg {

/// M as the passes see it: the identity, a diagonal, or one whose product with T is stored.
template <class V> struct preconditioned {
  cview<V> diagonal; ///< empty: none
  V* stored = nullptr;
};

/// What a step can end with beside the verdicts of `control`.
enum verdict : int { no_inverse = control::own_verdict, negative_pivot, zero_pivot };

/// What a step leaves for the host.
template <int W> struct step_record {
  square<W> d, inverse, beta;
  int rank;
  bool counted[W]; ///< columns that were not done before it
  double residual[W];
};

template <int W> struct block_state {
  square<W> g, h;               ///< as the passes leave them: T'M T and T'T, or S'P in g
  square<W> c, beta, xi, move;  ///< move = xi C
  square<W> factor, inverse;    ///< zeta, and its inverse by which T becomes Q
  square<W> norms_in_m, x_in_m; ///< S'M^-1 S and (X - X0)'M^-1 S
  double squares_of_x[W];       ///< of X - X0 in M^-1
  double residual[W], goal[W];
  double ratio_in_m[W]; ///< r'M r over (x - x0)'M^-1 (x - x0), as far as the last step knows
  double v[W], pivot;   ///< v'S'A S v, which stopped the inversion
  double slots[control::own_slot];
  control::limits most;
  double nothing; ///< of a pivot beside the largest one
  double least;   ///< the last pivot of the first factor of T'M T beside its first
  int count;      ///< columns
  int rank;
  bool stored; ///< M is more than a diagonal: T'M T comes by a pass of its own
  bool again;  ///< Q is not yet orthonormal
  int why;     ///< running, or how it ended: nothing is done any more
};

/// A judge that leaves everything to `control::until`.
struct no_judge {
  FURROW_HD int before() const { return control::running; }
  FURROW_HD int after() const { return control::running; }
};

/// The squares of the columns of X - X0 in M^-1, as T. Steihaug has them for one column (1983).
template <int W, class Team>
FURROW_TEAM_FUNCTION void follow_x(const Team& team, block_state<W>& s, small_room<W>& room) {
  multiply(team, s.x_in_m, s.move, room.a);
  multiply(team, s.move, s.norms_in_m, room.b, true);
  each_column<W>(team, [&](int k) { s.squares_of_x[k] += 2 * room.a[k][k] + s.norms_in_m.form(s.move, k); });
  team.sync();
  each_element<W>(team, [&](int i, int j) { s.x_in_m[i][j] += room.b[i][j]; });
  team.sync();
}

/// After g = S'P: xi, and how X moves.
template <int W> struct after_product {
  static FURROW_HD bool wanted(const block_state<W>& s) { return s.why == control::running; }
  template <class Team>
  FURROW_TEAM_FUNCTION void run(const Team& team, block_state<W>& s, step_record<W>& record, small_room<W>& room) {
    constexpr double unit = 2.220446049250313e-16;
    int why = all_finite(s.g) ? int(control::running) : int(control::not_finite);
    if (why == control::running) {
      const inversion done = invert(team, s.g, s.rank, 8 * W * unit, s.xi, s.v, room);
      if (team.rank == 0) s.pivot = done.pivot;
      if (!done.found) why = no_inverse;
    }
    team.sync(); // all have seen g
    if (team.rank == 0) s.why = why;
    team.sync();
    if (why != control::running) return;
    multiply(team, s.xi, s.c, s.move);
    follow_x(team, s, room);
    each_element<W>(team, [&](int i, int j) {
      record.d[i][j] = s.g[i][j], record.inverse[i][j] = s.xi[i][j], record.beta[i][j] = s.beta[i][j];
    });
    if (team.rank == 0) record.rank = s.rank;
    team.sync();
  }
};

/// C = zeta C, and what follows of it; the state's `factor` is zeta.
template <int W, class Team>
FURROW_TEAM_FUNCTION void take_directions(const Team& team, block_state<W>& s, small_room<W>& room) {
  multiply(team, s.factor, s.c, room.a);
  multiply(team, s.factor, s.norms_in_m, room.b);
  copy(team, room.a, s.c);
  each_element<W>(team, [&](int i, int j) { s.beta[i][j] = s.factor[j][i]; });
  team.sync();
  multiply(team, room.b, s.beta, room.a); // M Q is orthogonal to S and to X - X0 in M^-1
  multiply(team, s.x_in_m, s.beta, room.b);
  each_element<W>(team, [&](int i, int j) {
    s.norms_in_m[i][j] = room.a[i][j] + (i == j && i < s.rank ? 1 : 0);
    s.x_in_m[i][j] = room.b[i][j];
  });
  const bool there = s.rank > 0 && all_finite(s.c);
  team.sync();
  if (team.rank == 0) s.again = false, s.why = there ? int(control::running) : int(zero_pivot);
  team.sync();
}

/// After g = T'M T: zeta of a first Cholesky factor. A second one follows where Q'M Q - I, of the size of u / least,
/// may be large, or `again` says so.
template <int W> struct after_gram {
  static FURROW_HD bool wanted(const block_state<W>& s) { return s.why == control::running; }
  template <class Team>
  FURROW_TEAM_FUNCTION void run(const Team& team, block_state<W>& s, step_record<W>&, small_room<W>& room) {
    const orthonormal once = orthonormalise(team, s.g, s.nothing, s.factor, s.inverse, room);
    const bool again = s.again || once.least < 1e-4;
    team.sync();
    if (team.rank == 0) s.rank = once.rank, s.least = once.least, s.again = again;
    team.sync();
    if (!again) take_directions(team, s, room);
  }
};

/// After the same of T that was made Q once. The norm of a direction in M is what both factors say of it: one that
/// rounding of M T had made, as where T has more columns than rows, keeps next to nothing of its length in Q, and goes.
template <int W> struct after_gram_again {
  static FURROW_HD bool wanted(const block_state<W>& s) { return s.why == control::running && s.again; }
  template <class Team>
  FURROW_TEAM_FUNCTION void run(const Team& team, block_state<W>& s, step_record<W>&, small_room<W>& room) {
    const double left = s.nothing / s.least, nothing = left < 0.5 ? left : 0.5; // a half: none of those that are there
    const orthonormal twice = orthonormalise(team, s.g, nothing, room.a, s.inverse, room);
    if (team.rank == 0) s.rank = twice.rank;
    multiply(team, room.a, s.factor, room.b);
    copy(team, room.b, s.factor);
    take_directions(team, s, room);
  }
};

/// Counts a step that took place; columns that are small enough leave C, and x moves for them no more. By one member.
template <int W> FURROW_HD void count_step(block_state<W>& s, step_record<W>& record) {
  double worst = 0;
  bool finite = true;
  for (int k = 0; k < s.count; ++k) {
    record.counted[k] = s.residual[k] > s.goal[k];
    if (!record.counted[k]) continue;
    double squares = 0;
    for (int i = 0; i < W; ++i) squares += s.c[i][k] * s.c[i][k];
    const double now = record.residual[k], fell = now / s.residual[k];
    s.ratio_in_m[k] = s.squares_of_x[k] > 0 ? squares / s.squares_of_x[k] * fell * fell : 0;
    s.residual[k] = now;
    finite = finite && isfinite(now);
    if (now <= s.goal[k])
      for (int i = 0; i < W; ++i) s.c[i][k] = 0;
    else if (now / s.goal[k] > worst) worst = now / s.goal[k];
  }
  double norm = 0;
  s.slots[control::rr] = finite ? worst * worst : NAN;
  control::until<no_judge>{s.slots, {&norm, 1, 1}, s.most, {}}();
  s.why = static_cast<int>(s.slots[control::why]);
}

/// After h = T'T, and g = T'M T where no M is stored: the norms of the residuals, |T C|, and the next directions.
template <int W> struct after_shrink {
  static FURROW_HD bool wanted(const block_state<W>& s) { return s.why == control::running; }
  template <class Team>
  FURROW_TEAM_FUNCTION void run(const Team& team, block_state<W>& s, step_record<W>& record, small_room<W>& room) {
    each_column<W>(team, [&](int k) {
      const double squares = s.h.form(s.c, k);
      record.residual[k] = sqrt(squares < 0 ? 0.0 : squares); // NaN stays
    });
    team.sync();
    if (team.rank == 0) count_step(s, record);
    team.sync();
    if (s.why == control::running && !s.stored) after_gram<W>::run(team, s, record, room);
  }
};

/// Leaves the sums where they are.
template <int W> struct after_nothing {
  static FURROW_HD bool wanted(const block_state<W>&) { return true; }
  template <class Team> static FURROW_HD void run(const Team&, block_state<W>&, step_record<W>&, small_room<W>&) {}
};

/// Ends a loop beside the vectors.
template <int W> struct has_ended {
  const block_state<W>* s;
  FURROW_HD bool operator()() const { return s->why != control::running; }
};

} // namespace furrow::block_cg
