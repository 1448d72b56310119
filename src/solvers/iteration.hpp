// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "control.hpp"
#include "ending.hpp"
#include "exact_residual.hpp"
#include "pass.hpp"

#include "solvers/entry.hpp"

#include <furrow/value.hpp>

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
///   ahead()          only of a method whose step ends with what the judge does not wait for, nor it for the judge:
///                    enqueues it, behind step(); on a GPU it runs beside the judge
///   judge()          a functor beside the slots, see `control::until`
///   explain(v, home, patient)  the end that verdict v of the solver's own means; empty where starting again may help.
///                    `home`: the slots; not `patient`: starting again did not help
///   look(records, first, last)  only of a method that keeps numbers of each step: is shown those of steps first to
///                    last, at most 4096 of them
///   waits()          only of a method whose step waits for the device itself: the host drives its loop
///   loop(until), first_chunk()  only of a method with a loop of its own in place of the space's `repeat`: start(n)
///                    enqueues at most n steps, 1 at least; and how many steps it makes at first
///   settle()         only where x lags behind the residual: enqueues x, and leaves all that a next step reads
///   normal_residual(norm), least_squares(ratio, up_to_rounding)  only of methods of least squares: |A'r| / (|A| |r|)
///                    worked out anew from r(), whose norm is given, and the end that it means where it is small. The
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
        of_a_step_(numbers_of_a_step), r_(space.make(system.b.size)),
        numbers_(make_numbers(space, slots_ + ring * of_a_step_, slots_)), looks_(space.make_slots(look_count)),
        home_(at_hand ? slots_ : slots_ + ring * of_a_step_) {}

  view<V> r() { return as_view(r_); }
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
  double residual() const { return residual_; }
  /// The norm of the residual that is small enough.
  double goal() const { return goal_; }
  double norm_of_b() const { return norm_b_; }
  /// Of the x at hand. Writes slot `control::rr` and waits.
  double rounding_of_residual() {
    const double norm_x = control::norm_from_above(norm_of_x());
    return furrow::rounding_of_residual<V>(system_.longest_row, system_.norm_2 * norm_x + norm_b_);
  }
  /// |x - x0| / |x|, see `moved_since`.
  double moved_since_first_guess() { return first_x_ ? moved_since(*first_x_) : 1; }
  /// x in host memory.
  host_array<double> x_in_double() {
    const host_array<V> x = at_home(system_.x);
    host_array<double> wide(n_);
    std::copy(x.begin(), x.end(), wide.begin());
    return wide;
  }
  /// For a method whose residual climbs far above the first one before it falls: r is worked out anew on the way down.
  void replace_residual_behind_humps() { replaces_ = true; }

  template <class Method> solve_report run(Method& method) {
    using judge = decltype(method.judge());
    s_.dot(system_.b, system_.b, look_at(of_b));
    look_again();
    norm_b_ = std::sqrt(looked_[of_b]);
    goal_ = std::max(o_.rtol * norm_b_, o_.atol);
    limit_ = o_.max_iterations > 0 ? o_.max_iterations : std::max<index_t>(10 * system_.size(), 10000);
    first_ = best_ = residual_;
    keep_first_guess();
    record(residual_, seconds());
    auto loop = loop_of(method, control::until<judge>{numbers_.data(), records(), limits(), method.judge()});
    if (!finished(method, control::running)) {
      int idle = 0;
      for (double smallest = residual_;; ++report_.restarts) {
        begin_again(method);
        const int v = run_chunks(loop, method);
        if (system_.inner && takes_at_its_word(v)) break;
        look_again();
        if (ended_by(v, method) || finished(method, v)) break;
        if (system_.inner) {
          give_up(v, method);
          break;
        }
        idle = residual_ < 0.9 * smallest ? 0 : idle + 1;
        smallest = std::min(smallest, residual_);
        if (idle == patience) {
          give_up(v, method);
          break;
        }
        if (residual_ < best_) keep_best(residual_);
        else if (best_ < 0.5 * residual_) hand_back_the_best();
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

  enum look_name : int { of_r, of_x, of_b, look_count }; ///< squares that one wait brings
  static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
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
    const double first = first_ * first_;
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
        if constexpr (requires { S::repeats_beside; })
          return s_.repeat([&method] { method.step(); }, until, waits, [&method] { method.ahead(); });
        else
          return s_.repeat(
              [&method] {
                method.step();
                method.ahead();
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

  double norm_of(cview<V> v) {
    s_.dot(v, v, at(control::rr));
    ++report_.waits;
    return std::sqrt(s_.read(at(control::rr)));
  }
  double norm_of_x() { return std::isnan(norm_x_) ? norm_of(system_.x) : norm_x_; }
  /// r = b - A x and |r|^2, in one pass over A.
  void enqueue_residual(slot rr) { system_.a.residual(system_.b, system_.x, r(), rr); }
  /// r = b - A x, and its norm.
  void recompute_residual() {
    enqueue_residual(at(control::rr));
    ++report_.waits;
    residual_ = std::sqrt(s_.read(at(control::rr)));
  }
  slot look_at(int name) { return {looks_.data() + name}; }
  /// The same with the norm of x, in one wait.
  void look_again() {
    enqueue_residual(look_at(of_r));
    s_.dot(system_.x, system_.x, look_at(of_x));
    s_.fetch(as_cview(looks_), {looked_, look_count});
    ++report_.waits;
    residual_ = std::sqrt(looked_[of_r]);
    norm_x_ = std::sqrt(looked_[of_x]);
  }

  template <class Method> void begin_again(Method& method) {
    norm_x_ = unknown;
    const double rr = residual_ * residual_, steps = double(report_.iterations);
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
    recompute_residual();
    const double rr[] = {residual_ * residual_, residual_ * residual_};
    s_.put({rr, 2}, part(as_view(numbers_), control::rr, 2));
  }

  /// Whether the loop stopped only for what the host has to do, and can go on.
  template <class Method> bool resume(int why, Method& method) {
    if (why != control::behind_a_hump && why != control::cycle_ended) return false;
    settle(method);
    replace_residual();
    if (why == control::behind_a_hump) return true;
    if (!(residual_ > goal_)) return false; // or not finite
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
      if (done || now == keep) keep_if_best(done ? residual_ : std::sqrt(home_[control::rr]), method);
      if (after - before < 0.025) chunk_ = std::min(2 * chunk_, ring);
      if (after - before > 0.1) chunk_ = std::max<index_t>(chunk_ / 2, 1);
      progress p{now, std::sqrt(home_[control::rr]) / norm_b_, after};
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

  /// Whether what the loop met ends the solve.
  template <class Method> bool ended_by(int v, Method& method) {
    if (residual_ <= goal_ && v != control::not_finite) return false; // good enough, whatever the loop met
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
    if (report_.restarts > 0 || !(least_ < 0.5 * std::min({best_, first_, residual_}))) return;
    restore_first_guess();
    const index_t iterations = std::exchange(report_.iterations, 0);
    begin_again(method);
    for (index_t now = 0; now < least_step_; now = static_cast<index_t>(home_[control::steps])) {
      const bool done = run(loop, now, std::min(least_step_ - now, ring));
      if (done && !resume(static_cast<int>(home_[control::why]), method)) break;
    }
    settle(method);
    report_.iterations = iterations;
    recompute_residual();
  }

  bool takes_at_its_word(int v) {
    if (v != control::small_enough) return false;
    residual_ = std::sqrt(home_[control::rr]);
    return end({status::converged, solver_messages::converged});
  }

  template <class Method> void give_up(int v, Method& method) {
    hand_back_the_best();
    std::optional<ending> own;
    if (v >= control::own_verdict && residual_ > rounding_of_residual()) own = method.explain(v, home_.data(), false);
    end(own ? std::move(*own) : ending{status::stagnated, solver_messages::stagnated});
  }

  /// Columns without entries hide an x that is not finite from its residual.
  bool x_is_finite() {
    if (std::isfinite(norm_x_)) return true;
    s_.sweep(n_, pass(find_not_finite{}, in(system_.x)), at(control::rr));
    ++report_.waits;
    return s_.read(at(control::rr)) == 0;
  }

  /// Whether x is the least-squares answer: r, worked out anew, is orthogonal to the range of A. Up to the goal where
  /// the method believes so, and otherwise up to rounding; where it believes so from a residual that was worked out
  /// anew, up to what rounding of x and A x makes of r, which no more steps mend.
  template <class Method> bool fits_best(Method& method, int v) {
    if constexpr (requires { method.least_squares(0.0); }) {
      const double unit = std::numeric_limits<V>::epsilon();
      const double tolerance = v >= control::own_verdict ? std::max(o_.rtol, unit) : unit;
      double& ratio = report_.normal_residual;
      ratio = method.normal_residual(residual_);
      report_.waits += 4;
      const double rounding = rounding_of_residual();
      if (v >= control::own_verdict && report_.restarts > 0 && ratio > tolerance &&
          is_normal_up_to_rounding(ratio, rounding, residual_))
        return end(method.least_squares(ratio, true));
      if (!(ratio + rounding / residual_ <= tolerance)) {
        if (!(ratio <= tolerance) || !recompute_beyond_rounding()) return false;
        ratio = method.normal_residual(residual_);
      }
      if (ratio <= tolerance) return end(method.least_squares(ratio));
    }
    return false;
  }

  /// Whether the recomputed residual decides.
  template <class Method> bool finished(Method& method, int v) {
    if (!std::isfinite(residual_) || !x_is_finite()) return end({status::nan, solver_messages::residual_not_finite});
    report_.normal_residual = std::numeric_limits<double>::quiet_NaN();
    if (residual_ <= goal_ && certain()) return end({status::converged, solver_messages::converged});
    if (fits_best(method, v)) return true;
    if (report_.iterations >= limit_) return end({status::max_iterations, solver_messages::limit});
    return false;
  }

  bool end(ending e) {
    ending_ = std::move(e);
    return true;
  }

  /// Whether the residual is at most the goal however the computed one was rounded; otherwise works it out beyond
  /// rounding.
  bool certain() {
    if (residual_ == 0 && norm_b_ == 0) return true;
    if (residual_ + rounding_of_residual() <= goal_) return true;
    if (!recompute_beyond_rounding() || !(residual_ <= goal_)) return false;
    // Twice the digits hide the square of what one hides of each term (T. Ogita, S. M. Rump, S. Oishi, 2005, 5.5).
    // Norms bound the terms; where rows differ in size by 1e20 that says little, and they are added up.
    const double hidden = (double(system_.longest_row) + 3) * std::numeric_limits<V>::epsilon() / 2;
    if (residual_ + hidden * rounding_of_residual() <= goal_) return true;
    const auto exact = residual_on_host();
    return exact && residual_ + hidden * hidden * exact->terms <= goal_;
  }
  /// r = b - A x in more digits; false where the operator does not tell its entries.
  bool recompute_beyond_rounding() {
    if (!system_.ranks)
      if (const auto there = system_.a.exact_residual(system_.b, system_.x, r())) {
        residual_ = *there;
        return true;
      }
    const auto exact = residual_on_host();
    if (!exact) return false;
    residual_ = exact->norm;
    s_.copy(as_cview(array(exact->r)), r());
    return true;
  }
  std::optional<exact_residual<V>> residual_on_host() {
    return residual_beyond_rounding<V>(system_.a, as_cview(at_home(system_.b)), as_cview(at_home(system_.x)),
                                       system_.ranks);
  }
  host_array<V> at_home(cview<V> v) {
    array copy = s_.make(v.size);
    s_.copy(v, as_view(copy));
    return host_array<V>(copy);
  }

  void keep_first_guess() {
    if (norm_x_ == 0) return;
    first_x_ = s_.make(n_);
    s_.copy(system_.x, as_view(*first_x_));
  }
  /// Copies x where its residual, by the recurrence, is a tenth of the best one kept.
  template <class Method> void keep_if_best(double residual, Method& method) {
    if (!(residual < 0.1 * best_)) return;
    settle(method);
    keep_best(residual);
  }
  void keep_best(double residual) {
    if (!best_x_) best_x_ = s_.make(n_);
    s_.copy(system_.x, as_view(*best_x_));
    best_ = residual;
  }
  /// x becomes the best one seen, r its recomputed residual.
  void hand_back_the_best() {
    norm_x_ = unknown;
    if (!x_is_finite()) residual_ = std::numeric_limits<double>::infinity();
    if (best_ < first_ && !(residual_ <= best_)) {
      report_.normal_residual = std::numeric_limits<double>::quiet_NaN();
      s_.copy(as_cview(*best_x_), system_.x);
      recompute_residual();
      if (!x_is_finite()) residual_ = std::numeric_limits<double>::infinity();
      best_ = residual_; // more than before where the recurrence was wrong about that x
    }
    if (residual_ <= first_ && residual_ + rounding_of_residual() > first_) recompute_beyond_rounding();
    if (!(residual_ <= first_) && std::isfinite(first_)) restore_first_guess();
  }
  /// |x - A^-1 b| / |x| in the 8-norm: what x has moved since the one kept before it, or since the first guess, for an
  /// error that falls as the residual does. 0: not known.
  double error_by_progress() {
    if (best_x_) return residual_ < best_ ? moved_since(*best_x_) * residual_ / best_ : 0;
    return first_x_ && residual_ < first_ ? moved_since(*first_x_) * residual_ / first_ : 0;
  }
  /// |x - y| / |x| in the 8-norm, which a few large elements decide.
  double moved_since(const array& y) {
    const double size = norm_of_x() / std::sqrt(double(system_.size()));
    if (!(size > 0)) return 0;
    s_.sweep(system_.x.size, pass(compare{1 / size}, in(system_.x), in(as_cview(y))), at(control::rr),
             at(control::peak));
    double sums[2] = {};
    s_.fetch({at(control::rr).at, 2}, {sums, 2});
    ++report_.waits;
    return std::sqrt(std::sqrt(std::sqrt(sums[control::rr] / sums[control::peak])));
  }

  void restore_first_guess() {
    norm_x_ = unknown;
    report_.normal_residual = std::numeric_limits<double>::quiet_NaN();
    if (!first_x_) s_.sweep(n_, pass(set_zero{}, out(system_.x)));
    else s_.copy(as_cview(*first_x_), system_.x);
    recompute_residual();
  }

  solve_report report() {
    if (ending_.why != status::converged && ending_.why != status::least_squares) hand_back_the_best();
    // The best x is not the one that was not good enough: more digits may find it to be.
    if (ending_.why == status::stagnated && residual_ <= goal_ && certain())
      end({status::converged, solver_messages::converged});
    if (ending_.why == status::converged && report_.iterations > 0) report_.error_estimate = error_by_progress();
    const double relative = norm_b_ > 0 ? residual_ / norm_b_ : residual_;
    const bool single = !is_wide<V>;
    const bool preconditioned = system_.m.what() != any_preconditioner<V>::kind::identity;
    double floor = 0;
    if (ending_.why == status::stagnated && residual_ <= goal_) floor = rounding_of_residual() / norm_b_;
    report_.why = ending_.why;
    report_.relative_residual = relative;
    report_.message = ending_.sentence({report_.iterations, report_.restarts, relative,
                                        norm_b_ > 0 ? first_ / norm_b_ : first_, floor, preconditioned, single});
    report_.solve_seconds = seconds();
    return std::move(report_);
  }

  void record(double norm, double at_seconds) {
    if (!o_.history) return;
    report_.history.push_back(norm_b_ > 0 ? norm / norm_b_ : norm);
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
  index_t slots_, of_a_step_; ///< numbers in all, and of a step
  array r_;
  std::optional<array> best_x_, first_x_;              ///< also on a rank without elements of x
  decltype(std::declval<S&>().make_slots(0)) numbers_; ///< slots, then the records of steps
  decltype(std::declval<S&>().make_slots(0)) looks_;
  double looked_[look_count] = {};
  host_array<double> home_; ///< the same on the host; of those at hand a copy of the slots
  bool replaces_ = false;
  index_t chunk_ = 1, limit_ = 0, least_step_ = 0;
  double shown_ = 0; ///< when the monitor was told, in seconds
  double norm_b_ = 0, goal_ = 0, residual_ = 0, first_ = 0;
  double norm_x_ = unknown;                                ///< while x stays
  double best_ = 0;                                        ///< of the x that is kept, by the recurrence
  double least_ = std::numeric_limits<double>::infinity(); ///< by the recurrence, at step least_step_
  ending ending_;
  solve_report report_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

} // namespace furrow
