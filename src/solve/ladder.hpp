// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "memory.hpp"
#include "preconditioners/scaled.hpp"
#include "rungs.hpp"
#include "second_look.hpp"
#include "second_start.hpp"
#include "setup_clock.hpp"

#include <furrow/solver.hpp>

#include <memory>
#include <optional>

namespace furrow {

/// What this build has for such a matrix on that device.
inventory inventory_of(device where, const stats& s, precision p);

/// `solver = "auto"`: looks at the matrix, and climbs the rungs until one of them converges. x, the best so far, goes
/// along. What a rung needs is made when its turn comes; the one that gave an answer is kept, and the next right-hand
/// side begins there.
template <class V> class ladder {
public:
  /// Throws as `furrow::solve`; what a rung cannot take is no error, the
  /// next one is tried then.
  /// `around_m`: scales of a system that was arranged; null: ones.
  ladder(matrix_source<V> a, const solve_options& o, setup_clock& clock,
         std::shared_ptr<const diagonal_scales<V>> around_m = {});
  ~ladder();
  /// `spent`: what the same system has taken of the limits already.
  struct effort {
    index_t iterations = 0;
    double seconds = 0;
  };
  solve_report solve(cview<V> b, view<V> x, const effort& spent = {});
  /// Several right-hand sides, one behind the other: at once by `block_cg` where it is the turn of cg; those that are
  /// left climb on one after the other.
  std::vector<solve_report> solve(cview<V> b, view<V> x, index_t columns);
  /// From the next solve on: the goals and limits of `o`.
  void set_limits(const solve_options& o);

private:
  struct place;     ///< the matrix on a device
  struct candidate; ///< an x that was set aside
  struct part;      ///< a preconditioner, or why there is none
  struct attempt;   ///< a rung that is set up

  void prepare(matrix_source<V> a, setup_clock& clock);
  /// When a solve began, for the limit on the time: of the first one the set-up belongs to it.
  double begin_solve(double seconds_before);
  place& on(device where);
  part precondition(const rung_plan& plan, const matrix_source<V>* a); ///< null: from the triplets of what is stored
  /// M of that name, scaled where it may be; null: from the triplets of what is stored.
  std::unique_ptr<any_preconditioner<V>> make_m(const std::string& precond, const matrix_source<V>* a, device where,
                                                const solver_needs& needed) const;
  void announce_more(const rung_plan& plan, const preconditioner_layout& m, bool on_gpu);
  /// A plan that cannot be had as it stands becomes another one.
  std::unique_ptr<attempt> set_up(rung_plan& plan, solve_rung& tried);
  solve_report climb(cview<V> b, view<V> x, const effort& spent);
  solve_options rest_for(const rung_plan& plan, double seconds, index_t iterations) const;
  bool takes_blocks() const;
  void solve_block(cview<V> b, view<V> x, const std::vector<index_t>& numbers, std::vector<solve_report>& reports,
                   const effort& spent);
  void describe_choice(solve_report& report) const;
  void turn(status why, const std::string& solver);
  bool hides_its_residual(cview<V> b, cview<V> x, double relative) const;
  solve_report ended(status why, std::string message) const;
  /// Whether another method may be tried after one that ended so, with so many iterations in all.
  bool goes_on(status why, index_t iterations) const;
  /// What is known of the error of an answer beyond what its method says.
  void doubt(solve_report& report, cview<V> b, cview<V> x, const work_done& w);
  std::optional<double> start_again(const solve_report& r, cview<V> b, cview<V> x);

  solve_options options_;
  std::shared_ptr<const diagonal_scales<V>> around_m_;
  stats stats_;
  features features_;
  double norm_2_ = 0;
  choice chosen_;
  memory_estimate announced_;
  bool negated_ = false;                       ///< -A x = -b is solved
  bool indefinite_ = false, singular_ = false; ///< shown by a solve
  std::string singular_by_;                    ///< who found A singular; empty: nobody
  bool looked_ = false;                        ///< by complete factors, or they were too dear
  std::optional<factor_facts> facts_;          ///< what they said
  std::optional<double> apart_;                ///< how far from x another first guess led
  double setup_spent_ = 0;                     ///< seconds of the set-up, until the first solve has taken them over
  double deadline_ = 0;                        ///< by `now()`: of the set-up, and then of the solve under way
  std::optional<solve_report> ended_;          ///< why no solve can start
  std::vector<rung_plan> plans_;
  std::size_t at_ = 0;
  std::vector<std::unique_ptr<place>> places_;
  /// Rows on the GPU, where they have room beside what is stored, until a rung has answered: the next one's
  /// preconditioner is made from them.
  std::optional<matrix_source<V>> rows_;
  std::unique_ptr<part> first_; ///< of the first rung, from triplets that are gone since
  std::unique_ptr<attempt> kept_;
};

} // namespace furrow
