// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "amg/amg_on_gpus.hpp"
#include "doubt.hpp"
#include "first.hpp"
#include "gpu/rank_device.hpp"
#include "operator.hpp"
#include "preconditioner.hpp"
#include "rungs.hpp"
#include "setup_parts.hpp"
#include "together.hpp"

#include "solvers/entry.hpp"

#include <furrow/matrix.hpp>
#include <furrow/ranks.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace furrow {

/// What a rank keeps. Every branch is taken by all ranks alike: it rests on what they have asked each other.
/// solver_on_ranks.cpp sets it up; climb_on_ranks.cpp solves.
template <class V> struct solver_on_ranks<V>::state {
  communicator& c;
  solve_options o;
  std::unique_ptr<rank_device> gpu; ///< null: none; ends last
  setup_clock clock;
  std::vector<setup_part> setup_parts; ///< of this rank
  rows_of_rank<V> rows;
  std::optional<matrix_source<V>> block; ///< the rank's own, until it is stored; none where it has no rows
  std::optional<matrix_source<V>> kept;  ///< the same on a GPU, while a rung may want it
  stats facts;                           ///< of it
  mutable std::optional<double> norm_1;  ///< of all ranks, once a method has asked
  rank_part mine;
  std::optional<refusal> refused; ///< why no solve can start
  features known;                 ///< of -A where that is solved
  index_t coupled = 0;            ///< entries that couple two ranks
  bool negated = false;           ///< -A x = -b is solved
  shown showed;                   ///< by a solve
  std::string singular_by;        ///< who found A singular
  choice chosen;
  std::unique_ptr<operator_of_rank<V>> a;
  std::vector<rank_rung> rungs;
  std::size_t at = 0;   ///< whose turn it is
  std::size_t m_of = 0; ///< the rung that `m` belongs to
  std::unique_ptr<any_preconditioner<V>> m;
  std::unique_ptr<system_on_first<V>> first;  ///< once the first rank has gathered the rows; A and M are gone then
  std::string gathered_because, not_gathered; ///< why the first rank has the rows, or cannot have them
  doubt_on_ranks<V> doubts;
  double setup_spent = 0; ///< seconds of the set-up, until the first solve has taken them over
  double deadline = 0;    ///< of the set-up, and then of the solve that runs, by the clock of this rank

  state(communicator& all, coo<V> given, const solve_options& options);
  state(const state&) = delete;
  ~state();
  void begin(coo<V> given);
  void let_go();
  std::unique_ptr<rank_device::scope> enter() const { return gpu ? gpu->enter() : nullptr; }
  bool is_named() const { return o.solver != "auto" || o.precond != "auto"; }

  // The set-up.
  matrix_source<V> send(coo<V> given);
  void look();
  std::vector<rank_rung> rungs_now() const;
  void negate();
  void begin_with_rungs();
  void choose_format();
  void check_memory_of_ranks();
  static constexpr double bytes_of_entry = 8 + sizeof(V); ///< as a triplet
  void set_up();
  void make_operator();
  bool keeps_rows() const;
  template <class Make> void set_up_preconditioner(Make of_block);
  void set_up_preconditioner_again();
  bool couples_ranks() const { return lies_across_ranks(rungs[at].precond); }
  bool gather_rows_on_first(climbed_before before);
  coo<V> rows_of_all_columns() const;
  rows_of_gpu<V> rows_there() const;
  double norm_for(const solver_entry& method) const;

  // A solve.
  ranks_report solve(cview<V> b, view<V> x);
  std::optional<solve_report> before_solving(cview<V> b, view<V> x) const;
  double residual_of(cview<V> b, cview<V> x) const;
  struct climb_state;
  solve_report climb(cview<V> b, view<V> x, ranks_report& result);
  bool stands(solve_rung& tried);
  solve_report run(cview<V> b, view<V> x, solve_options limits) const;
  solve_options limits_of(const rank_rung& rung, double seconds_left, index_t iterations) const;
  bool goes_on(status why, index_t iterations, double began) const;
  void turn(status why, const std::string& solver);
  void doubt(solve_report& report, cview<V> b, cview<V> x, const work_done& work, double began);
  solve_report climb_on_first(cview<V> b, view<V> x, double seconds_left, index_t iterations);
  void describe(solve_report& report) const;
  std::string matrix_about() const;
};

} // namespace furrow
