// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/matrix.hpp>
#include <furrow/solve.hpp>

#include <memory>

namespace furrow {

/// What is known of an operator that is not made from triplets; zeros: nothing.
struct operator_facts {
  /// A bound of the spectral norm of |A|, and the entries of the longest row: by these the rounding of b - A x is
  /// bounded. Where they are not known, `converged` rests on the residual as it is computed.
  double norm = 0;
  index_t longest_row = 0;
};

/// A x = b set up once and solved often: the matrix in its format, the preconditioner, the choice that was made.
/// One solve at a time: a second call meanwhile throws `fault::usage`; two solvers may run on two threads. Every solve
/// with the same b and first guess has the same bits, those of `furrow::solve`; with `solver = "auto"` a solve begins
/// with the method that gave the last answer.
/// Needs no set-up from the second solve on; allocates the vectors of its method.
template <class V> class solver {
public:
  /// Looks at A, chooses, converts, sets the preconditioner up. Throws as `furrow::solve`. What a report says instead,
  /// such as a diagonal that proves A not to be definite, each solve reports.
  explicit solver(coo<V> a, const solve_options& options = {});
  /// The same from rows, in host memory or, with `options.where` the same GPU, there: they are sorted then, or are
  /// sorted by the host. Read in the call alone, but for columns and values of rows on a GPU that have an owner, which
  /// csr keeps where they lie. Throws as `to_coo`, too.
  explicit solver(const csr_arrays<V, std::int32_t>& a, const solve_options& options = {});
  explicit solver(const csr_arrays<V, std::int64_t>& a, const solve_options& options = {});
  /// The same for a matrix that was looked at and stored before, in its format and kernel; it may end before the
  /// solver, and what `update_values` does to it later does not show here. Where no method is named, "auto" looks anew.
  explicit solver(const matrix<V>& a, const solve_options& options = {});
  /// An operator of yours, on `options.where`, a preconditioner of yours (null: none), and A' for methods of least
  /// squares, &a where A is symmetric. They must outlive the solver; `options.precond`, `format` and `kernel` mean
  /// nothing then. Whether A is what the method needs is yours to know; least squares take M for M'.
  solver(const any_operator<V>& a, const any_preconditioner<V>* m, const solve_options& options = {},
         const operator_facts& facts = {}, const any_operator<V>* transposed = nullptr);
  /// A temporary would have ended when the solver begins.
  solver(const any_operator<V>&& a, const any_preconditioner<V>* m, const solve_options& options = {},
         const operator_facts& facts = {}, const any_operator<V>* transposed = nullptr) = delete;
  solver(solver&&) noexcept;
  solver& operator=(solver&&) noexcept;
  ~solver();

  /// Solves A x = b. x holds the first guess on entry and the answer on return. b, x: both in host memory, from where
  /// they go to a GPU and x comes back, or both on the solver's GPU, where they stay; their addresses say which. With
  /// `solver = "auto"` or `values = f32` they pass through the host even so. What they hold must be there, or enqueued
  /// on `current_stream`. `setup_seconds` of the report is the solver's own in the first one and 0 from then on. Throws
  /// `fault::usage` for vectors that do not fit, share memory or lie on another device.
  solve_report solve(cview<V> b, view<V> x);

  /// Solves A X = B for `columns` right-hand sides that lie one behind the other in b, as the answers do in x: a report
  /// for each, in their order. `block_cg` takes up to 16 of them at once where there is no `monitor`, and so does
  /// "auto" where it takes cg and A `multiplies_blocks`; otherwise each is solved as by itself. `time_limit` is for all
  /// of them, `watch` is told of all of them, `solve_seconds` is a column's share. A column that fails does not keep
  /// the others from their answers. Where `watch` or `monitor` stops one, or `cancelled` says yes between two, those
  /// that have not begun end as `interrupted` too, and x is their first guess. Vectors of the GPU itself: as for one.
  /// Throws as the other one.
  std::vector<solve_report> solve(cview<V> b, view<V> x, index_t columns);

  /// From the next solve on: `rtol`, `atol`, `max_iterations`, `outlook` and `time_limit` of `o`. Throws `fault::usage`
  /// for those that make no sense.
  void set_limits(const solve_options& o);

  /// From the next solve on A is this one: the same pattern with other values, as they change from one Newton step or
  /// time step to the next. A is looked at as by the constructor; of M what the pattern alone decides is kept where it
  /// knows how, `amg` of the kinds that docs/multigrid.md names, and its numbers are made again; another M is made
  /// anew, and so is every M for another pattern. The next report tells of this set-up. For a solver of a `matrix` that
  /// is `matrix::update_values` first, and the new values pass through the host. Rows as by the constructor. Throws as
  /// the constructor, `fault::usage` for another shape and for a solver of operators of yours; where it throws in the
  /// middle, solves report that until it succeeds.
  void update_values(const matrix<V>& a);
  void update_values(coo<V> a);
  void update_values(const csr_arrays<V, std::int32_t>& a);
  void update_values(const csr_arrays<V, std::int64_t>& a);

  shape2 shape() const;
  double setup_seconds() const; ///< of the constructor, or the last `update_values`

private:
  struct state;
  template <class Given> void begin(Given&& a, const solve_options& options);
  template <class Given> void begin_again(Given&& a, const matrix<V>* known);
  std::shared_ptr<state> state_; ///< also of a solve that runs, whose monitor may move the solver or assign to it
};

} // namespace furrow
