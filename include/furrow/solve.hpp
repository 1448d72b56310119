// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/formats.hpp>

#include <functional>
#include <limits>
#include <memory>
#include <vector>

namespace furrow {

/// Why a solver stopped. Everything but `converged` comes with the number that triggered it in `solve_report::message`.
enum class status {
  converged,             ///< the recomputed residual b - A x is small enough
  max_iterations,        ///< the limit on iterations was reached
  not_positive_definite, ///< p'Ap or r'z was negative beyond what rounding explains
  singular,              ///< A is singular to working precision, and b is not in its range
  breakdown,             ///< a scalar of the method vanished and a restart did not help
  nan,                   ///< a NaN or an infinity appeared
  stagnated,             ///< the residual stopped falling above its goal
  diverged,              ///< the residual grew beyond any use
  interrupted,           ///< `watch` asked to stop
  least_squares,         ///< b is not in the range of A, and the recomputed A'(b - A x) is small: x is nearest
};
std::string_view name(status s);

/// What a running solver tells its watcher, about ten times a second.
struct progress {
  index_t iteration = 0;
  double relative_residual = 0; ///< by the recurrence, not recomputed; by `refine` of the correction on its way, too
  double seconds = 0;           ///< since the solver started
  /// The x of that iteration in host memory, of `refine` without the correction on its way, worked out where it is
  /// asked for: a copy of x and a wait, which who does not ask does not pay. Only while the watcher is being told: who
  /// keeps the function and calls it later gets `fault::usage`. Empty on ranks, and where several right-hand sides or
  /// systems are solved at once.
  std::function<host_array<double>()> x = {};
  bool due = true; ///< whether the iteration is one of those that `watch_every` names
};

/// Bytes that `solve` takes at its peak on the host and, for a GPU, on the device.
struct memory_estimate {
  double host = 0, gpu = 0;
};

/// Where the nodes of a body are, whose stiffness is A: `dims` numbers a node, one node after the other.
struct node_coordinates {
  int dims = 0;
  host_array<double> values;
};

struct solve_options {
  /// "auto": the ladder of docs/auto.md, by what the matrix is; otherwise a name with its parameters, "ilu:2". With a
  /// solver that is named `precond` "auto" is what it wants: `lu` for `direct`, `jacobi` for the others.
  std::string solver = "auto", precond = "auto", format = "auto", kernel = "auto";
  bool tune = false; ///< measure what "auto" leaves open: furrow/tune.hpp
  double expected_products = std::numeric_limits<double>::infinity(); ///< products to come, see `wish`
  device where{};
  /// In which a system of doubles is solved. `f32`: A is multiplied by a power of two where its values need that, and
  /// rounded; so is b; x comes back in double. What a report says, `converged` too, is of the rounded system.
  precision values = precision::f64;
  bool assume_symmetric = false; ///< do not ask whether A is symmetric: differences are known to mean nothing
  /// Of nodes that have as many unknowns as coordinates, 2 or 3, in rows that follow each other: `amg:sa` takes from
  /// them the motions of rigid bodies. In host memory. Null: none.
  std::shared_ptr<const node_coordinates> coordinates{};
  /// "none"; "symmetric": R = C = |diag A|^-1/2; "matching": rows change places so that the product of the diagonal is
  /// largest, and R and C make it ones with nothing larger beside it. M is made of R A C, as C M R: b, x and every
  /// residual stay those of A x = b. For square matrices; docs/preconditioners.md#scaling-and-order-by-name.
  std::string scale = "none";
  /// "none"; "rcm": rows and columns in reverse Cuthill and McKee's order, after the matching where there is one. b and
  /// x stay in the caller's order, also for `monitor` and `watch`.
  std::string reorder = "none";
  /// Converged when |b - A x| <= max(rtol |b|, atol), Euclidean norms; below 1. A system of floats seldom gets below
  /// 1e-6: with 1e-8 it ends as `stagnated`, and says what it could have had.
  double rtol = 1e-8;
  double atol = 0;
  index_t max_iterations = 0; ///< 0: max(10 columns, 10000)
  /// Stop, as by `max_iterations`, where the rate of the last half of the steps promises more iterations than this.
  index_t outlook = 0; ///< 0: never
  /// Seconds of the set-up and of the first solve together, and of each further one; asked for about 20 times a second,
  /// and at every sixteenth row of factors.
  double time_limit = std::numeric_limits<double>::infinity();
  bool history = true;                        ///< record the residual of every iteration
  std::function<bool(const progress&)> watch; ///< returns false to stop; may be empty
  /// Told every `monitor_every` iterations, but not of the last one, whose x the solve hands back, with the x of that
  /// iteration in host memory; returns false to stop. May be empty; costs a copy of x and a wait each time. On ranks
  /// the first one is told, with the x of all; a `checkpoint_keeper` keeps x in parts there.
  std::function<bool(const progress&, cview<double> x)> monitor;
  index_t monitor_every = 1;
  double monitor_seconds = 0; ///< above 0: in place of that it is told when so many seconds have passed
  /// Above 0: `watch` is told at each multiple of so many iterations, too, but not of the last one, which the report
  /// tells; `progress::due` tells these from the others. Several right-hand sides are solved one after the other then.
  index_t watch_every = 0;
  std::function<bool()> cancelled; ///< asked between the steps of the set-up: true ends it as `interrupted`
  std::function<void(const memory_estimate&)> announce; ///< told before memory is taken; "auto" tells again of more
};

/// What `auto` tried.
struct solve_rung {
  std::string solver, precond;
  device where;
  std::string reason;  ///< why it was taken
  std::string outcome; ///< how it ended, in a sentence
  status why = status::max_iterations;
  index_t iterations = 0;
  double relative_residual = 0; ///< NaN where nothing was solved
  double setup_seconds = 0, solve_seconds = 0;
};

struct solve_report {
  status why = status::max_iterations;
  std::string message; ///< one sentence
  index_t iterations = 0;
  index_t restarts = 0;         ///< from the recomputed residual
  index_t inner_iterations = 0; ///< of the solver inside `refine`, in all of its iterations together; 0: there is none
  double relative_residual = 0; ///< |b - A x| / |b|, recomputed from x at the end; 0 for b = 0; NaN where not known
  /// |A'r| / (|A| |r|), r = b - A x, recomputed from x by methods of least squares; NaN: not known.
  double normal_residual = std::numeric_limits<double>::quiet_NaN();
  /// Of A in the 1-norm where it was factored, if only by "auto" for this number, of M A by cg, of A M from below by
  /// lsmr and lsqr; 0: not known.
  double condition_estimate = 0;
  double smallest_ritz = 0, largest_ritz = 0; ///< of M A by cg, to 1 % each, also where its steps ran out; 0: not known
  double error_estimate = 0; ///< of |x - A^-1 b| / |x|, docs/direct.md, docs/conjugate-gradients.md; 0: not known
  std::string warning;       ///< a sentence where the error may exceed 1 % though the residual is small
  double setup_seconds = 0, solve_seconds = 0; ///< of all rungs together
  std::vector<setup_part> setup_parts;         ///< of `setup_seconds`, in their order; what is left is small
  double bytes_per_iteration = 0;              ///< that the algorithm must move
  double product_bytes = 0;                    ///< those of one product with A
  double stored_bytes = 0;                     ///< matrix, preconditioner and vectors
  index_t waits = 0;                           ///< times the host waited for the device
  std::string solver, precond;                 ///< what ran, with parameters
  std::string precond_about;                   ///< what the preconditioner says of itself; may be empty
  std::vector<multigrid_level> levels;         ///< of a preconditioner that has them, the finest first
  /// Of complete factors L and U, the diagonal once: entries and bytes as the pattern says before anything is factored,
  /// and those that were made; 0: not known. `factors_at_most`: the first two are bounds for any choice of pivots.
  double factor_entries_expected = 0, factor_bytes_expected = 0, factor_entries = 0, factor_bytes = 0;
  bool factors_at_most = false;
  std::string format, kernel, reason;           ///< the same, and why the format was chosen
  std::string scale = "none", reorder = "none"; ///< what was asked for
  std::string arranged_about;                   ///< what that did to the matrix, in a sentence; empty: nothing
  std::string matrix_about;                     ///< what `auto` found the matrix to be
  std::vector<std::string> untried;             ///< "direct with lu": rungs that were not needed
  std::vector<solve_rung> rungs;       ///< what `auto` tried, the last one gave the answer; empty where one was named
  std::vector<double> history;         ///< relative residuals by the recurrence; [0] before the first iteration
  std::vector<double> history_seconds; ///< when each of them was known, since the solver started
};

/// Solves A x = b. x holds the first guess on entry and the answer on return, also where the report says it stopped
/// short. a: taken apart to save memory, square but for `lsmr`, `lsqr` and "auto"; b: an element a row, x: one a
/// column, host memory, not overlapping. Allocates on `options.where`:
/// the matrix in its format, b, x, the diagonal, and four more vectors (five where the first guess is not 0). Before
/// conjugate gradients start, A is checked to be symmetric up to rounding: `fault::input` names a pair of entries that
/// is not. x comes back no worse in |b - A x| than the first guess, whatever the report says. Throws `fault::usage` for
/// unknown names and sizes that do not fit, `fault::memory` before allocating what cannot be had. Bitwise repeatable on
/// the same build and device.
template <class V> solve_report solve(coo<V> a, cview<V> b, view<V> x, const solve_options& options);

/// From full statistics, or from sizes alone: then as for csr where the format is "auto".
memory_estimate estimate_solve_memory(const stats& s, precision p, const solve_options& options);

struct named {
  std::string_view name, about;
  std::string_view parameters{}; ///< what may follow the name: "[:LEVEL]"
  bool on_gpu = true;            ///< it has a GPU part
};
std::vector<named> solvers();
std::vector<named> preconditioners();

} // namespace furrow
