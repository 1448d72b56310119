// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/bicgstab/steps.hpp"
#include "solvers/cg/judge.hpp"

#include <cstdint>

/// Many small systems in one launch, a team of lanes each: a block of threads on a GPU. What host and lanes tell each
/// other about a system.
namespace furrow::small_systems {

enum class method : std::int32_t { cg, bicgstab };
constexpr const char* name_of(method m) { return m == method::cg ? "cg" : "bicgstab"; }

/// Numbers that a judge works on: those that `iteration` has, and the method's own.
inline constexpr int slots = 24;
static_assert(cg_scalars::slot_end <= slots && bicgstab_steps::slot_end <= slots);

/// What lanes are told of a system.
struct facts {
  index_t vector_at = 0; ///< its first element in vectors of all systems
  index_t offset_at = 0; ///< its first row offset, which are counted from its first entry
  index_t entry_at = 0;  ///< its first entry
  std::int32_t rows = 0, entries = 0, longest_row = 0;
  std::int32_t lanes = 1; ///< a row, a power of 2
  double norm_inf = 0, norm_2 = 0;
  double rtol = 0, atol = 0, steps = 0, outlook = 0; ///< limits
};

/// Where in its program a system is: small_control.hpp.
enum class place : std::int32_t {
  fresh,
  first_look,
  first_check,
  stepping,
  behind_a_hump,
  loop_look,
  loop_check,
  again,
  hand_back,
  best_is_back,
  worse_than_first,
  first_is_back,
  give_up,
  conclude,
  replay,
  replayed,
  report,
  done
};

/// What the lanes do next.
enum class command : std::int32_t {
  look,       ///< r = b - A x, its norm, those of x and b
  take_first, ///< x = the first guess; look
  take_best,  ///< x = the best one kept; look
  exact,      ///< r and its norm beyond rounding
  keep_best,  ///< keep x
  start,      ///< a first step's vectors and scalars
  steps,      ///< until the judge says so, or as many as this launch has left
  moves,      ///< how far x has moved
  leave       ///< this launch ends
};

/// Why it ended.
enum class end : std::int32_t {
  none,
  converged,
  not_finite,   ///< the residual or x
  limit,        ///< of iterations
  grown,        ///< the residual
  too_slow,     ///< at this rate
  stopped,      ///< by the host
  stagnated,    ///< starting again brings nothing
  by_the_method ///< its own verdict
};

/// How far a system is; `iteration` says what the numbers mean.
struct state {
  double slot[slots] = {};
  double norm_b = 0, goal = 0, residual = 0, norm_x = 0;
  double terms = 0; ///< norm of |b| + |A| |x| of the x whose residual is exact
  double first = 0, best = 0, smallest = 0, least = 0;
  double moved_since_best = 0, moved_since_first = 0; ///< eighth powers of |x - y| / |x|, of one that converged
  double iterations = 0, least_step = 0;
  place at = place::fresh, then = place::fresh; ///< then: where handing back the best x leads
  command next = command::leave;
  end why = end::none;
  std::int32_t verdict = control::running; ///< of the last step
  std::int32_t own_verdict = control::running;
  std::int32_t restarts = 0, idle = 0;
  std::int32_t x_finite = 1, is_exact = 0, has_best = 0, has_first = 0, replaying = 0;
  std::int32_t started = 0;      ///< no step since the last start
  std::int32_t left = 0;         ///< steps of this launch
  std::int32_t recorded = 0;     ///< of them, counted
  std::int32_t goes_on = 0;      ///< no one but the lanes is needed for the next step
  std::int32_t other_shadow = 0; ///< of bicgstab: this start takes another r~, as in `stabilised_bicg`
};
static_assert(sizeof(state) % 8 == 0);

/// Of a step that was counted.
struct record {
  double norm = 0;            ///< of the residual by the recurrence; with its sign bit where the method started before
  double alpha = 0, beta = 0; ///< of cg; alpha 0: none
};

/// Vectors that lie in the shared memory of a block, of `rows` elements each.
FURROW_HD constexpr int vectors_of(method m, bool diagonal) {
  return m == method::cg ? 4 + diagonal : 6 + 2 * diagonal; // x r p q, d; x r p v t r~, d and d times p or r
}

/// Elements from one of them to the next.
FURROW_HD constexpr int pitch_of(int rows, int value) { return value == 4 ? (rows + 1) / 2 * 2 : rows; }

/// Bytes of shared memory that a system takes: vectors, row offsets, and the matrix where it lies `inside`.
constexpr index_t shared_bytes(method m, bool diagonal, bool inside, index_t rows, index_t entries, index_t value) {
  const auto whole = [](index_t bytes) { return (bytes + 7) / 8 * 8; };
  const index_t vectors = vectors_of(m, diagonal) * whole(rows * value) + whole((rows + 1) * 4);
  return vectors + (inside ? whole(entries * value) + whole(entries * 2) : 0);
}

/// Threads of a block for so many rows: two rows a thread, which waits less for others than for itself.
constexpr int threads_for(index_t rows) {
  int threads = 32;
  while (threads < 512 && 2 * threads < rows) threads *= 2;
  return threads;
}

/// Lanes a row: where rows are long, and where there are fewer rows than threads.
constexpr int lanes_for(index_t rows, index_t entries, int threads) {
  int lanes = 1;
  while (lanes < 32 && (entries > 8 * lanes * rows || (2 * lanes * rows <= threads && entries > 2 * lanes * rows)))
    lanes *= 2;
  return lanes;
}

/// The largest system that columns of 16 bits can number.
inline constexpr index_t most_rows = 1 << 16;

/// All arrays of the systems, where the lanes are. `d` empty: no preconditioner.
template <class V> struct arrays {
  const facts* about;
  const std::int32_t* row_ptr;
  const std::uint16_t* col;
  const V *val, *b, *first, *d;
  V *x, *r, *p, *shadow, *best; ///< shadow: of bicgstab
  state* states;
};

/// One launch.
template <class V> struct work {
  arrays<V> all;
  const std::int32_t* active; ///< numbers of the systems, one a block
  state* news;                ///< of these, in their order
  record* records;            ///< step by step, of all of them in their order
  std::int32_t count, steps;  ///< systems; steps at most
  std::int32_t stop;          ///< end what is not done: x is to be handed back
};

} // namespace furrow::small_systems
