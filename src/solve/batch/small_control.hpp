// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "small_state.hpp"

namespace furrow::small_systems {

/// The program that `iteration` runs around the steps of a method, as one lane of a team runs it: each call of `next`
/// looks at what the last command has found, and says the next one. What `iteration` promises holds here, too:
/// `converged` is said only of a residual that was computed anew from x, in more digits where rounding could hide the
/// goal; x is the best one seen; the method starts again until ten starts brought nothing. An x is kept after
/// those steps after which `iteration` does, so that the launches into which the steps are divided do not show.
class controller {
public:
  FURROW_HD controller(state& s, const facts& about, method m, double unit) : s_(s), f_(about), m_(m), unit_(unit) {}

  static constexpr int patience = 10; ///< starts from the recomputed residual that may bring nothing

  /// `stop`: what has no answer when the steps of this launch are made ends.
  FURROW_HD command next(bool stop) {
    for (;;) {
      if (const command c = s_.at < place::hand_back ? iterate(stop) : end_it(); c != none) return c;
    }
  }

  /// When the judge stops the steps.
  FURROW_HD control::limits limits() const {
    const double first = s_.first * s_.first;
    control::limits most;
    most.goal = s_.goal * s_.goal;
    most.steps = f_.steps;
    most.patience = f_.rows > 2500 ? 2.0 * f_.rows : 5000;
    most.ceiling = first * 1e40;
    most.hump = m_ == method::bicgstab ? 100 * first : HUGE_VAL;
    most.outlook = f_.outlook;
    return most;
  }

  /// What follows a step that the judge has seen. `before`: its number of steps before.
  FURROW_HD void count(double before) {
    const double norm = sqrt(s_.slot[control::rr]), now = s_.slot[control::steps];
    if (now > before && !s_.replaying && norm < s_.least) s_.least = norm, s_.least_step = now;
    s_.started = 0;
    s_.left -= 1;
    const bool keeps = may_keep_after(index_t(now)) && norm < 0.1 * s_.best;
    s_.goes_on = s_.verdict == control::running && s_.left > 0 && !keeps && !(s_.replaying && now >= s_.least_step);
  }

private:
  static constexpr command none = command(-1);

  static FURROW_HD bool may_keep_after(index_t steps) { return control::next_kept(steps - 1) == steps; }

  FURROW_HD command iterate(bool stop) {
    switch (s_.at) {
    case place::fresh:
      return then_at(place::first_look, command::look);
    case place::first_look:
      begin();
      return go(place::first_check);
    case place::first_check:
      return check(place::stepping);
    case place::stepping:
      return after_steps(stop);
    case place::behind_a_hump:
      s_.slot[control::rr] = s_.slot[control::peak] = s_.residual * s_.residual;
      s_.at = place::stepping;
      s_.verdict = control::running;
      return s_.replaying ? none : keep_if_best(s_.residual);
    case place::loop_look:
      s_.iterations = s_.slot[control::steps];
      return ended_by_verdict() ? go(place::conclude) : go(place::loop_check);
    case place::loop_check:
      return check(place::again);
    default:
      s_.restarts += 1;
      return begin_again(s_.iterations);
    }
  }

  FURROW_HD command end_it() {
    switch (s_.at) {
    case place::hand_back:
      if (!s_.x_finite) s_.residual = HUGE_VAL;
      if (s_.best < s_.first && !(s_.residual <= s_.best)) return then_at(place::best_is_back, command::take_best);
      return go(place::worse_than_first);
    case place::best_is_back:
      if (!s_.x_finite) s_.residual = HUGE_VAL;
      s_.best = s_.residual; // more than before where the recurrence was wrong about that x
      return go(place::worse_than_first);
    case place::worse_than_first:
      if (!s_.is_exact && s_.residual <= s_.first && s_.residual + rounding() > s_.first) return command::exact;
      if (!(s_.residual <= s_.first) && isfinite(s_.first)) return then_at(s_.then, command::take_first);
      return go(s_.then);
    case place::give_up:
      if (s_.verdict >= control::own_verdict && s_.residual > rounding()) finish(end::by_the_method);
      else finish(end::stagnated);
      return none;
    case place::conclude:
      if (loses_its_x()) return then_at(place::replay, command::take_first);
      return go(place::report);
    case place::replay:
      s_.replaying = 1;
      return begin_again(0);
    case place::replayed:
      return go(place::report);
    case place::report:
      if (s_.why != end::converged) return hand_back_for(place::done);
      return s_.iterations > 0 ? then_at(place::done, command::moves) : go(place::done);
    default:
      return command::leave;
    }
  }

  FURROW_HD command go(place to) {
    s_.at = to;
    return none;
  }
  FURROW_HD command then_at(place to, command c) {
    s_.at = to;
    return c;
  }
  FURROW_HD command hand_back_for(place then) {
    s_.then = then;
    return go(place::hand_back);
  }
  FURROW_HD void finish(end why) {
    s_.why = why;
    if (why == end::by_the_method) s_.own_verdict = s_.verdict;
    s_.at = place::conclude;
  }

  FURROW_HD void begin() {
    const double relative = f_.rtol * s_.norm_b;
    s_.goal = relative > f_.atol ? relative : f_.atol;
    s_.first = s_.best = s_.smallest = s_.residual;
    s_.least = HUGE_VAL;
    s_.has_first = s_.norm_x != 0;
  }

  FURROW_HD command begin_again(double steps) {
    s_.other_shadow =
        m_ == method::bicgstab && s_.restarts > 0 &&
        (s_.verdict == int(bicgstab_steps::lost_direction) || s_.verdict == int(bicgstab_steps::lost_shadow));
    const double rr = s_.residual * s_.residual;
    const double fresh[control::own_slot] = {rr, rr, steps, 0, rr, control::running, steps, rr};
    static_assert(control::peak == 1 && control::steps == 2 && control::since_best == 3 && control::best == 4 &&
                  control::why == 5 && control::looked == 6 && control::look_best == 7 && control::own_slot == 8);
    for (int k = 0; k < control::own_slot; ++k) s_.slot[k] = fresh[k];
    s_.verdict = control::running;
    s_.started = 1;
    return then_at(place::stepping, command::start);
  }

  FURROW_HD command after_steps(bool stop) {
    const bool runs = s_.verdict == control::running;
    if (s_.replaying && (s_.slot[control::steps] >= s_.least_step || (stop && s_.left <= 0)))
      return then_at(place::replayed, command::look);
    if (runs) {
      const double norm = sqrt(s_.slot[control::rr]);
      if (!s_.replaying && may_keep_after(index_t(s_.slot[control::steps])) && norm < 0.1 * s_.best)
        return keep_if_best(norm);
      if (s_.left > 0) return command::steps;
      return stop ? then_at(place::loop_look, command::look) : command::leave;
    }
    if (s_.verdict == control::behind_a_hump) return then_at(place::behind_a_hump, command::look);
    return then_at(s_.replaying ? place::replayed : place::loop_look, command::look);
  }

  FURROW_HD command keep_if_best(double residual) {
    if (!(residual < 0.1 * s_.best)) return none;
    s_.best = residual;
    return command::keep_best;
  }

  /// A bound for what rounding does to the computed b - A x, see `iteration`.
  FURROW_HD double rounding() const {
    return (double(f_.longest_row) + 3) * unit_ * (f_.norm_2 * control::norm_from_above(s_.norm_x) + s_.norm_b);
  }

  /// The same of the residual as it is: twice the digits hide the square of what one hides of each term.
  FURROW_HD double hidden() const {
    const double of_a_term = (double(f_.longest_row) + 3) * unit_;
    return s_.is_exact ? of_a_term * of_a_term * s_.terms : rounding();
  }

  /// Whether the recomputed residual decides; otherwise goes on there.
  FURROW_HD command check(place otherwise) {
    if (!isfinite(s_.residual) || !s_.x_finite) return finish(end::not_finite), none;
    if (s_.residual <= s_.goal) {
      const bool sure = (s_.residual == 0 && s_.norm_b == 0) || s_.residual + hidden() <= s_.goal;
      if (sure) return finish(end::converged), none;
      if (!s_.is_exact) return command::exact;
    }
    if (otherwise == place::stepping)
      s_.first = s_.best = s_.smallest = s_.residual; // worked out beyond rounding since
    if (s_.iterations >= f_.steps) return finish(end::limit), none;
    return otherwise == place::stepping ? begin_again(0) : start_again();
  }

  FURROW_HD command start_again() {
    s_.idle = s_.residual < 0.9 * s_.smallest ? 0 : s_.idle + 1;
    if (s_.residual < s_.smallest) s_.smallest = s_.residual;
    if (s_.idle == patience) return hand_back_for(place::give_up);
    if (s_.residual < s_.best) {
      s_.best = s_.residual;
      return then_at(place::again, command::keep_best);
    }
    return s_.best < 0.5 * s_.residual ? hand_back_for(place::again) : go(place::again);
  }

  FURROW_HD bool ended_by_verdict() {
    if (s_.residual <= s_.goal && s_.verdict != control::not_finite) return false; // good enough, whatever was met
    switch (s_.verdict) {
    case control::not_finite:
      return finish(end::by_the_method), true;
    case control::grown:
      return finish(end::grown), true;
    case control::too_slow:
      return finish(end::too_slow), true;
    case control::running:
      return finish(end::stopped), true;
    default:
      if (ends_at_once()) return finish(end::by_the_method), true;
      return false;
    }
  }

  /// Of the method's own verdicts those that starting again does not mend.
  FURROW_HD bool ends_at_once() const {
    using namespace cg_scalars;
    return m_ == method::cg && (s_.verdict == negative_pq || s_.verdict == negative_rz || s_.verdict == outgrown);
  }
  /// Whether it ended far behind its smallest residual: the first steps are made once more.
  FURROW_HD bool loses_its_x() const {
    using namespace cg_scalars;
    const bool singular =
        m_ == method::cg && s_.why == end::by_the_method && (s_.own_verdict == outgrown || s_.own_verdict == zero_pq);
    if (!(singular || s_.why == end::grown) || s_.restarts > 0) return false;
    return s_.least < 0.5 * s_.best && s_.least < 0.5 * s_.first && s_.least < 0.5 * s_.residual;
  }

  state& s_;
  const facts& f_;
  method m_;
  double unit_;
};

} // namespace furrow::small_systems
