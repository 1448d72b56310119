// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "augmented.hpp"
#include "balanced_rows.hpp"
#include "ladder_system.hpp"
#include "second_look.hpp"
#include "second_start.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace furrow {

inline bool answers(status why) { return why == status::converged || why == status::least_squares; }
/// Whether nothing is left to try for a right-hand side that ended so.
inline bool is_over(status why) { return answers(why) || why == status::interrupted || why == status::nan; }

/// As a rung of a climb, whose solve that was. `setup`: seconds.
solve_rung rung_of(const solve_report& r, device where, std::string reason, double setup);

/// What this build has for such a matrix on that device.
inventory inventory_of(device where, const stats& s, precision p);

/// What was tried of the same system elsewhere, as by ranks that had its rows: a ladder goes on behind that.
struct climbed_before {
  std::vector<std::pair<std::string, std::string>> tried; ///< solver and preconditioner, left before their own limit
  bool indefinite = false;                                ///< shown by one of them
  std::string singular_by;                                ///< who found A singular; empty: nobody
  work_done work;
};

/// `solver = "auto"`: looks at the matrix, and climbs the rungs until one of them converges. x, the best so far, goes
/// along. What a rung needs is made when its turn comes; the one that gave an answer is kept, and the next right-hand
/// side begins there, or at an earlier one that was left for the sake of the last right-hand side alone.
template <class V> class ladder {
public:
  /// Throws as `furrow::solve`; what a rung cannot take is no error, the
  /// next one is tried then.
  /// `around_m`: scales of a system that was arranged; null: ones.
  ladder(matrix_source<V> a, const solve_options& o, setup_clock& clock,
         std::shared_ptr<const diagonal_scales<V>> around_m = {}, climbed_before before = {});
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
  struct candidate; ///< an x that was set aside
  /// A right-hand side, and what of it an A x can have, as far as the entries of A tell.
  struct aim {
    cview<V> b;
    host_array<V> in_range{};       ///< b without what is normal to the range of A; empty: b itself is aimed at
    double inside = 0, outside = 0; ///< norms of both
    bool asked = false;

    bool is_split() const { return !in_range.empty(); }
    cview<V> target() const { return is_split() ? as_cview(in_range) : b; }
    void tell_of_b(solve_report& report) const;
  };

  void prepare(matrix_source<V> a, setup_clock& clock, climbed_before before);
  void go_on_behind(climbed_before before, const inventory& there);
  /// When a solve began, for the limit on the time: of the first one the set-up belongs to it.
  double begin_solve(double seconds_before);
  /// Sets the rung whose turn it is up, unless it stands. Whether it does then.
  bool stands(rung_plan& plan, solve_rung& tried);
  struct ascent;
  solve_report climb(cview<V> b, view<V> x, const effort& spent);
  solve_rung try_rung(rung_plan& plan, ascent& now_at, view<V> x);
  solve_rung solve_by(const rung_plan& plan, ascent& now_at, view<V> x, double setup);
  solve_report end_climb(ascent& here, view<V> x);
  /// From the rung that stands to an earlier one.
  struct detour {
    std::size_t stood, back;
  };
  std::optional<detour> go_back();
  bool is_left_for_b(const rung_plan& plan, status why) const;
  void skip_what_came_between(std::optional<detour>& went);
  void remember_end(status why, bool went_back, bool exhausted);
  void put_right(solve_report& best, bool exhausted) const;
  solve_options rest_for(const rung_plan& plan, const ascent& here) const;
  bool takes_blocks() const;
  void solve_block(cview<V> b, view<V> x, const std::vector<index_t>& numbers, std::vector<solve_report>& reports,
                   const effort& spent);
  void describe_choice(solve_report& report) const;
  void turn(status why, const std::string& solver, const std::vector<solve_rung>& tried);
  void forget(const std::string& solver); ///< it is none of the rungs that follow
  /// What refinement by complete factors that gave no answer has shown of A; `status::stagnated`: no method can get
  /// further in this precision.
  status shown_by_factors(const solve_report& r, ascent& here, cview<V> x) const;
  bool hides_its_residual(cview<V> b, cview<V> x, double relative) const;
  bool begins_anew(const rung_plan& plan) const;
  static candidate better_of(std::optional<candidate> aside, cview<V> x, const solve_report& report);
  static void hand_back_the_better(candidate aside, view<V> x, solve_report& best);
  void go_back_from_the_end(std::optional<rung_plan>& left_early, const rung_plan& plan, status why);
  inventory what_there_is() const;
  /// Whether another method may be tried after one that ended so, with so many iterations in all.
  bool goes_on(status why, index_t iterations) const;
  bool ends(status why, const std::string& solver, index_t iterations) const;
  bool has_factored(const std::string& solver) const { return kept_ && solver == "direct"; }
  /// What is known of the error of an answer beyond what its method says.
  void doubt(solve_report& report, cview<V> b, cview<V> x, const work_done& w);
  void look_by_complete_factors(double operations);
  std::optional<double> error_by_augmented(cview<V> b, cview<V> x, double operations);
  bool is_sure(solve_report& report, solve_rung& tried, cview<V> b, cview<V> x, const work_done& w, index_t iterations);
  bool maps_ones_to_zero();
  bool has_singular_part();
  bool may_split();
  bool splits(cview<V> b);
  bool split(aim& to);
  void judge(solve_report& report, cview<V> b, cview<V> x) const;
  solve_report solve_augmented(const rung_plan& plan, cview<V> b, view<V> x, const solve_options& rest);
  void settle_nearest(solve_report& report, const aim& to, view<V> x, const effort& spent);
  std::optional<double> find_error(const solve_report& r, cview<V> b, cview<V> x, work_done w);
  solve_report solve_anew(cview<V> b, view<V> y, double rtol, index_t most, work_done& w);
  std::optional<double> ask_at_random(const solve_report& r, index_t size, work_done& w);
  std::optional<double> start_again(const solve_report& r, cview<V> b, cview<V> x, work_done& w);
  std::optional<double> ask_starts(const solve_report& r, cview<V> b, cview<V> x, work_done& w, bool of_itself = false);

  ladder_system<V> system_;
  bool indefinite_ = false, singular_ = false; ///< shown by a solve
  std::string singular_by_;                    ///< who found A singular; empty: nobody
  std::optional<bool> ones_to_zero_;           ///< whether A maps ones to zero
  std::optional<balanced_rows> balanced_;      ///< what columns of A add up to zero over
  std::optional<augmented_system> augmented_;  ///< once a rung has asked for its factors
  bool split_ = false;                         ///< of the last right-hand side only the part in the range was aimed at
  looks_taken looked_;                         ///< at answers of doubtful errors
  std::optional<factor_look<V>> by_factors_;   ///< complete ones, where they did not take too long
  bool asks_augmented_ = false;                ///< those of `augmented_` tell of answers
  shown_at_random shown_;                      ///< of M A
  second_starts told_;                         ///< how far from answers other first guesses led
  work_done before_;                           ///< elsewhere, until the first solve has taken it over
  double setup_spent_ = 0;                     ///< seconds of the set-up, until the first solve has taken them over
  std::optional<refusal> refused_;             ///< why no solve can start
  std::vector<rung_plan> plans_;
  std::size_t at_ = 0;
  std::unique_ptr<typename ladder_system<V>::attempt> kept_;
  std::unique_ptr<typename ladder_system<V>::attempt> aside_; ///< of few rows, until it is its turn again
  std::optional<std::size_t> better_;      ///< a rung before the one that stands, left for a right-hand side alone
  std::optional<std::size_t> answered_at_; ///< the rung that gave the last answer, if the last solve has one
  int in_vain_ = 0;                        ///< right-hand sides in a row that went back to no avail
};

} // namespace furrow
