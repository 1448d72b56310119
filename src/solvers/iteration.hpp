// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "best_x.hpp"
#include "ending.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

namespace furrow {

/// What every iterative solver does around its step: goal and limit, chunks, history, the watcher, starting again,
/// the best x so far, and the verdict on the recomputed residual.
///
/// The solver, `method`, brings
///   start()          enqueues the vectors and scalars of a first step, from `r()` = b - A x and slot `control::rr`
///   step()           enqueues one step; it leaves |r|^2 in slot `control::rr`
///   ahead(), is_ahead()  only of a method whose step may end with what the judge does not wait for, nor it for the
///                    judge: enqueues it, behind step(), where is_ahead(); on a GPU it runs beside the judge
///   judge()          a functor beside the slots, see `control::until`
///   explain(v, home, patient)  the end that verdict v of the solver's own means; empty where starting again may help.
///                    `home`: the slots; not `patient`: starting again did not help
///   look(records, first, last)  only of a method that keeps numbers of each step: is shown those of steps first to
///                    last, at most 4096 of them
///   waits()          only of a method whose step waits for the device itself: the host drives its loop
///   loop(until), first_chunk()  only of a method with a loop of its own in place of the space's `repeat`: start(n)
///                    enqueues at most n steps, 1 at least; and how many steps it makes at first
///   settle()         only where x lags behind the residual: enqueues x, and leaves all that a next step reads
///   normal_residual(norm), least_squares(ratio, up_to_rounding), tells_of_range(ratio, home)  only of methods of least
///                    squares: |A'r| / (|A| |r|) worked out anew from r(), whose norm is given, the end that it means
///                    where it is small, and whether what it leaves of r in the range of A is surely little. The
///                    method's own verdict says that the loop believes it to be
///
/// **`converged` is said only of a residual that was computed anew from x**, in more digits where rounding could hide
/// the goal. Where the loop believes to be done and is not, the iteration starts again from that residual, until ten
/// starts in a row did not make the smallest one a tenth smaller. The x that is handed back is the best one seen, never
/// worse in |b - A x| than the first guess.
/// On ranks each runs this text on its part of the vectors. They never part ways: sums are the same everywhere, and
/// what a clock or a watcher decides is asked of rank 0. Memory: r, the best x (taken when it is first needed), and the
/// first guess where that is not 0. Cost of a step beyond the solver's own: none; of a chunk (1/20 s): one wait, and at
/// most one copy of x.
template <vector_space S> class iteration {
  using V = value_of<S>;
  using array = decltype(std::declval<S&>().make(0));
  using standing = solver_messages::standing;

public:
  static constexpr int own_vectors = 2; ///< r and the best x

  /// `numbers_of_a_step`: how many are kept of each, see `control::step_records`; only what a step wrote is looked at,
  /// and that right behind a chunk of steps.
  iteration(S& space, const linear_system<V>& system, const solve_options& options, int own_slots,
            int numbers_of_a_step = 1)
      : s_(space), system_(system), o_(options), n_(system.x.size), slots_(control::own_slot + own_slots),
        of_a_step_(numbers_of_a_step), numbers_(make_numbers(space, slots_ + ring * of_a_step_, slots_)),
        residual_(space, system), best_(space, system, residual_),
        home_(at_hand ? slots_ : slots_ + ring * of_a_step_) {}

  view<V> r() { return residual_.r(); }
  /// A slot by its name: those of `control::slot_name`, and the solver's own from `control::own_slot` on.
  slot at(int name) { return {numbers_.data() + name}; }
  /// For a judge.
  double* slots() { return numbers_.data(); }
  control::step_records records() { return {numbers_.data() + slots_, ring, of_a_step_}; }
  /// Starts from a recomputed residual before this one; 0 also where the first steps are made once more.
  index_t starts_before() const { return report_.restarts; }
  /// The slots as the last chunk of steps left them.
  const double* last_slots() const { return home_.data(); }
  /// |b - A x|, recomputed.
  double residual() const { return residual_.norm(); }
  /// The norm of the residual that is small enough.
  double goal() const { return goal_; }
  double norm_of_b() const { return residual_.norm_of_b(); }
  /// Of the x at hand. Waits.
  double rounding_of_residual() { return residual_.rounding(); }
  /// |x - x0| / |x|, see `residual_at_hand::moved_since`.
  double moved_since_first_guess() { return best_.moved_since_first_guess(); }
  /// x in host memory.
  host_array<double> x_in_double() {
    const host_array<V> x = residual_.at_home(system_.x);
    host_array<double> wide(n_);
    std::copy(x.begin(), x.end(), wide.begin());
    return wide;
  }
  /// For a method whose residual climbs far above the first one before it falls: r is worked out anew on the way down.
  void replace_residual_behind_humps() { replaces_ = true; }

  template <class Method> solve_report run(Method& method) {
    using judge = decltype(method.judge());
    residual_.look_first();
    goal_ = std::max(o_.rtol * norm_of_b(), o_.atol);
    limit_ = o_.max_iterations > 0 ? o_.max_iterations : std::max<index_t>(10 * system_.size(), 10000);
    best_.begin();
    record(residual(), seconds());
    const bool is_there = finished(method, control::running);
    best_.look_again(); // the residual may have been worked out beyond rounding since, and be many times as large
    auto loop = loop_of(method, control::until<judge>{numbers_.data(), records(), limits(), method.judge()});
    if (!is_there) {
      int idle = 0;
      for (double smallest = residual();; ++report_.restarts) {
        begin_again(method);
        const int v = run_chunks(loop, method);
        if (system_.inner && takes_at_its_word(v)) break;
        residual_.look_again();
        if (ended_by(v, method) || finished(method, v)) break;
        if (system_.inner) {
          give_up(v, method);
          break;
        }
        idle = residual() < 0.9 * smallest ? 0 : idle + 1;
        smallest = std::min(smallest, residual());
        if (idle == patience) {
          give_up(v, method);
          break;
        }
        if (residual() < best_.kept()) best_.keep(residual());
        else if (best_.kept() < 0.5 * residual()) hand_back_the_best();
        if (stops_before_a_start() && ended_by(control::running, method)) break;
      }
    }
    if (ending_.why == status::singular || ending_.why == status::diverged) replay(loop, method);
    return report();
  }

private:
  static constexpr index_t ring = control::ring;
  static constexpr int patience = 10; ///< starts from the recomputed residual that may bring nothing
  /// Steps without a new smallest residual inside another method, which loses nothing where it begins again.
  static constexpr index_t patience_inside = 1000;

  /// Slots in host memory: the records behind them are read in place.
  static constexpr bool at_hand = std::is_same_v<decltype(std::declval<S&>().make_slots(0)), host_array<double>>;

  /// Zeros, but for records at hand: to touch 100 kB for the first time takes longer than to solve a small system.
  static auto make_numbers(S& s, index_t count, index_t slots) {
    if constexpr (at_hand) {
      host_array<double> numbers(count);
      std::fill_n(numbers.data(), slots, 0.0);
      return numbers;
    } else return s.make_slots(count);
  }
  /// Those of the steps that were made last, on the host.
  control::step_records records_at_home() {
    if constexpr (at_hand) return records();
    else return {home_.data() + slots_, ring, of_a_step_};
  }

  control::limits limits() const {
    const double first = best_.first() * best_.first();
    return {.goal = goal_ * goal_,
            .steps = double(limit_),
            .patience = double(system_.inner ? patience_inside : std::max<index_t>(2 * system_.size(), 5000)),
            .ceiling = first * 1e40,
            .hump = replaces_ ? 100 * first : std::numeric_limits<double>::infinity(),
            .outlook = double(o_.outlook)};
  }

  template <class Method, class Until> auto loop_of(Method& method, const Until& until) {
    if constexpr (requires { method.loop(until); }) {
      chunk_ = method.first_chunk();
      return method.loop(until);
    } else {
      const bool waits = system_.m.waits() || requires { method.waits(); };
      if (!at_hand && !waits && is_quick(method.bytes_per_iteration())) chunk_ = control::first_kept;
      if constexpr (requires { method.ahead(); }) {
        const auto ahead = [&method] {
          if (method.is_ahead()) method.ahead();
        };
        if constexpr (requires { S::repeats_beside; })
          return s_.repeat([&method] { method.step(); }, until, waits, ahead, method.is_ahead());
        else
          return s_.repeat(
              [&method, ahead] {
                method.step();
                ahead();
              },
              until, waits);
      } else return s_.repeat([&method] { method.step(); }, until, waits);
    }
  }

  /// Whether a person who waits does not notice a chunk of a few steps, of so many bytes each: rank 0 says so.
  bool is_quick(double bytes) const {
    const bool mine = bytes < 1e9; // a millisecond on any GPU of these years
    return system_.ranks ? system_.ranks->of_first(mine) != 0 : mine;
  }

  template <class Method> void begin_again(Method& method) {
    residual_.x_has_changed();
    const double rr = residual() * residual(), steps = double(report_.iterations);
    const double fresh[] = {rr, rr, steps, 0, rr, control::running, steps, rr};
    static_assert(control::peak == 1 && control::steps == 2 && control::since_best == 3 && control::best == 4 &&
                  control::why == 5 && control::looked == 6 && control::look_best == 7);
    s_.put({fresh, control::own_slot}, part(as_view(numbers_), 0, control::own_slot));
    method.start();
  }

  template <class Method> static void settle(Method& method) {
    if constexpr (requires { method.settle(); }) method.settle();
  }

  /// r = b - A x in the middle of an iteration that goes on. What x and r lost to rounding while they were large, some
  /// units of the peak, is still small beside r (G. L. G. Sleijpen, H. A. van der Vorst, Reliable updated residuals in
  /// hybrid Bi-CG methods, 1996).
  void replace_residual() {
    residual_.recompute();
    const double rr[] = {residual() * residual(), residual() * residual()};
    s_.put({rr, 2}, part(as_view(numbers_), control::rr, 2));
  }

  /// Whether the loop stopped only for what the host has to do, and can go on.
  template <class Method> bool resume(int why, Method& method) {
    if (why != control::behind_a_hump && why != control::cycle_ended) return false;
    settle(method);
    replace_residual();
    if (why == control::behind_a_hump) return true;
    if (!(residual() > goal_)) return false; // or not finite
    method.start();
    return true;
  }

  /// At most so many steps behind the first `begun`, whose slots and records come home; whether the judge ended them.
  template <class Loop> bool run(Loop& loop, index_t begun, index_t steps) {
    constexpr bool only_starts = requires { loop.start(steps); };
    bool done = false;
    if constexpr (only_starts) loop.start(steps);
    else done = loop.run(steps);
    const index_t written =
        at_hand ? slots_ : slots_ + of_a_step_ * std::min(begun + steps + 1, ring); // step i has place i % ring
    s_.fetch(part(as_cview(numbers_), 0, written), part(as_view(home_), 0, written));
    report_.waits += only_starts ? 1 : 2;
    return only_starts ? static_cast<int>(home_[control::why]) != control::running : done;
  }

  /// Runs the loop in chunks of about a twentieth of a second, so that a person sees progress and can stop it.
  template <class Loop, class Method> int run_chunks(Loop& loop, Method& method) {
    const bool by_steps = o_.monitor && !(o_.monitor_seconds > 0), by_clock = o_.monitor && !by_steps;
    const index_t every = by_steps ? o_.monitor_every : ring, watched = o_.watch_every > 0 ? o_.watch_every : ring;
    for (;;) {
      const double before = seconds();
      const index_t begun = report_.iterations, keep = control::next_kept(begun);
      const bool done =
          run(loop, begun, std::min({chunk_, keep - begun, every - begun % every, watched - begun % watched}));
      const auto now = static_cast<index_t>(home_[control::steps]);
      const double after = seconds(), each = (after - before) / double(std::max<index_t>(now - report_.iterations, 1));
      const control::step_records records = records_at_home();
      for (index_t i = report_.iterations + 1; i <= now; ++i) {
        const double norm = *records.of(i);
        record(norm, after - each * double(now - i));
        if (norm < least_) least_ = norm, least_step_ = i;
      }
      if constexpr (requires { method.look(records, now, now); }) method.look(records, report_.iterations + 1, now);
      report_.iterations = now;
      const auto why = static_cast<int>(home_[control::why]);
      if (done && !resume(why, method)) return settle(method), why;
      if (done || now == keep) keep_if_best(done ? residual() : std::sqrt(home_[control::rr]), method);
      if (after - before < 0.025) chunk_ = std::min(2 * chunk_, ring);
      if (after - before > 0.1) chunk_ = std::max<index_t>(chunk_ / 2, 1);
      progress p{now, std::sqrt(home_[control::rr]) / norm_of_b(), after};
      p.due = o_.watch_every == 0 || now % watched == 0;
      if (!system_.ranks) p.x = [&] { return settle(method), x_in_double(); };
      bool stop = after > o_.time_limit || watcher_stops(p);
      const bool shown = by_clock ? after - shown_ >= o_.monitor_seconds : by_steps && now % every == 0;
      if (stop || shown) settle(method);
      if (!stop && shown) {
        stop = !o_.monitor(p, as_cview(x_in_double()));
        shown_ = seconds();
      }
      if (stop) return control::running;
    }
  }

  bool watcher_stops(const progress& p) const {
    const bool stops = o_.watch && !o_.watch(p);
    return system_.ranks ? system_.ranks->of_first(stops) != 0 : stops;
  }

  /// Whether the clock or the watcher ends a method that would start again: a start alone may take long. The iteration
  /// behind it is not one that is told of.
  bool stops_before_a_start() {
    progress p{report_.iterations, residual() / norm_of_b(), seconds()};
    p.due = false;
    return p.seconds > o_.time_limit || watcher_stops(p);
  }

  /// Whether what the loop met ends the solve.
  template <class Method> bool ended_by(int v, Method& method) {
    if (residual() <= goal_ && v != control::not_finite) return false; // good enough, whatever the loop met
    switch (v) {
    case control::not_finite:
      return end(std::move(*method.explain(v, home_.data(), false)));
    case control::grown:
      return end({status::diverged, solver_messages::grown});
    case control::too_slow:
      return end({status::max_iterations, solver_messages::too_slow});
    case control::running: // only a watcher or the clock stops a running loop
      return end(seconds() > o_.time_limit ? ending{status::max_iterations, solver_messages::out_of_time}
                                           : ending{status::interrupted, solver_messages::interrupted});
    case control::small_enough:
    case control::limit:
    case control::no_progress:
    case control::behind_a_hump:
    case control::cycle_ended:
      return false;
    default:
      if (auto own = method.explain(v, home_.data(), true)) return end(std::move(*own));
      return false;
    }
  }

  /// Runs the first steps once more, up to the one of the smallest residual, where x has been lost since: the same
  /// steps have the same bits.
  template <class Loop, class Method> void replay(Loop& loop, Method& method) {
    if (report_.restarts > 0 || !(least_ < 0.5 * std::min({best_.kept(), best_.first(), residual()}))) return;
    best_.restore_first_guess();
    forget_normal_residual();
    const index_t iterations = std::exchange(report_.iterations, 0);
    begin_again(method);
    for (index_t now = 0; now < least_step_; now = static_cast<index_t>(home_[control::steps])) {
      const bool done = run(loop, now, std::min(least_step_ - now, ring));
      if (done && !resume(static_cast<int>(home_[control::why]), method)) break;
    }
    settle(method);
    report_.iterations = iterations;
    residual_.recompute();
  }

  bool takes_at_its_word(int v) {
    if (v != control::small_enough) return false;
    residual_.take(std::sqrt(home_[control::rr]));
    return end({status::converged, solver_messages::converged});
  }

  template <class Method> void give_up(int v, Method& method) {
    hand_back_the_best();
    std::optional<ending> own;
    if (v >= control::own_verdict && residual() > rounding_of_residual()) own = method.explain(v, home_.data(), false);
    end(own ? std::move(*own) : ending{status::stagnated, solver_messages::stagnated});
  }

  /// Whether x is the least-squares answer: r, worked out anew, is orthogonal to the range of A. Up to the goal where
  /// the method believes so, or knows at its last step, and otherwise up to rounding; where it believes so from a
  /// residual that was worked out anew, up to what rounding of x and A x makes of r, which no more steps mend.
  template <class Method> bool fits_best(Method& method, int v) {
    if constexpr (requires { method.least_squares(0.0); }) {
      const double unit = std::numeric_limits<V>::epsilon();
      double& ratio = report_.normal_residual;
      ratio = method.normal_residual(residual());
      report_.waits += 4;
      const bool is_believed =
          v >= control::own_verdict || (v == control::limit && method.tells_of_range(ratio, home_.data()));
      const double tolerance = is_believed ? std::max(o_.rtol, unit) : unit;
      const double rounding = rounding_of_residual();
      if (v >= control::own_verdict && report_.restarts > 0 && ratio > tolerance &&
          is_normal_up_to_rounding(ratio, rounding, residual()))
        return end(method.least_squares(ratio, true));
      if (!(ratio + rounding / residual() <= tolerance)) {
        if (!(ratio <= tolerance) || !residual_.recompute_beyond_rounding()) return false;
        ratio = method.normal_residual(residual());
      }
      if (ratio <= tolerance) return end(method.least_squares(ratio));
    }
    return false;
  }

  /// Whether the recomputed residual decides.
  template <class Method> bool finished(Method& method, int v) {
    if (!std::isfinite(residual()) || !residual_.x_is_finite())
      return end({status::nan, solver_messages::residual_not_finite});
    forget_normal_residual();
    if (residual() <= goal_ && residual_.is_surely_below(goal_))
      return end({status::converged, solver_messages::converged});
    if (fits_best(method, v)) return true;
    if (report_.iterations >= limit_) return end({status::max_iterations, solver_messages::limit});
    return false;
  }

  bool end(ending e) {
    ending_ = std::move(e);
    return true;
  }

  void forget_normal_residual() { report_.normal_residual = std::numeric_limits<double>::quiet_NaN(); }
  void hand_back_the_best() {
    if (best_.hand_back()) forget_normal_residual();
  }
  /// Copies x where its residual, by the recurrence, is a tenth of the best one kept.
  template <class Method> void keep_if_best(double residual, Method& method) {
    if (!(residual < 0.1 * best_.kept())) return;
    settle(method);
    best_.keep(residual);
  }
  solve_report report() {
    if (ending_.why != status::converged && ending_.why != status::least_squares) {
      hand_back_the_best();
      if (!system_.inner && rounding_of_residual() > 0.1 * residual()) residual_.recompute_beyond_rounding();
      // The best x is not the one that was not good enough: more digits may find it to be.
      if (ending_.why == status::stagnated && residual() <= goal_ && residual_.is_surely_below(goal_))
        end({status::converged, solver_messages::converged});
    }
    if (ending_.why == status::converged && report_.iterations > 0) report_.error_estimate = best_.error_by_progress();
    const double norm_b = norm_of_b(), relative = norm_b > 0 ? residual() / norm_b : residual();
    const bool single = !is_wide<V>;
    const bool preconditioned = system_.m.what() != any_preconditioner<V>::kind::identity;
    double floor = 0;
    if (ending_.why == status::stagnated && residual() <= goal_) floor = rounding_of_residual() / norm_b;
    report_.why = ending_.why;
    report_.relative_residual = relative;
    report_.message =
        ending_.sentence({report_.iterations, report_.restarts, relative,
                          norm_b > 0 ? best_.first() / norm_b : best_.first(), floor, preconditioned, single});
    report_.waits += residual_.waits();
    report_.solve_seconds = seconds();
    return std::move(report_);
  }

  void record(double norm, double at_seconds) {
    if (!o_.history) return;
    report_.history.push_back(norm_of_b() > 0 ? norm / norm_of_b() : norm);
    report_.history_seconds.push_back(at_seconds);
  }
  /// Since the solve began, by the clock of rank 0.
  double seconds() const {
    const double mine = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    return system_.ranks ? system_.ranks->of_first(mine) : mine;
  }

  S& s_;
  const linear_system<V>& system_;
  const solve_options& o_;
  index_t n_;
  index_t slots_, of_a_step_;                          ///< numbers in all, and of a step
  decltype(std::declval<S&>().make_slots(0)) numbers_; ///< slots, then the records of steps
  residual_at_hand<S> residual_;
  best_x<S> best_;
  host_array<double> home_; ///< the same on the host; of those at hand a copy of the slots
  bool replaces_ = false;
  index_t chunk_ = 1, limit_ = 0, least_step_ = 0;
  double shown_ = 0; ///< when the monitor was told, in seconds
  double goal_ = 0;
  double least_ = std::numeric_limits<double>::infinity(); ///< by the recurrence, at step least_step_
  ending ending_;
  solve_report report_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

} // namespace furrow
