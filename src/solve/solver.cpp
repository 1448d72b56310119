// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/solver.hpp>
#include <furrow/value.hpp>

#include "arranging.hpp"
#include "coordinates.hpp"
#include "in_single_precision.hpp"
#include "ladder.hpp"
#include "prepared_system.hpp"
#include "run.hpp"

#include "backends/cpu/all_finite.hpp"
#include "backends/turn.hpp"
#include "core/check.hpp"
#include "core/clock.hpp"
#include "core/counted.hpp"
#include "core/memory_place.hpp"
#include "core/symmetry.hpp"
#include "preconditioners/stop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <vector>

namespace furrow {
namespace {

/// `method` null: "auto".
void check_shape(shape2 a, const solver_entry* method) {
  check(a.rows == a.cols || !method || method->needs.transposed, fault::input,
        "the matrix is {} x {}: {} solves square systems only, lsmr takes any shape", a.rows, a.cols,
        method ? method->name : "");
}

template <class V> void check_places(cview<V> b, view<V> x) {
  check((b.data || b.empty()) && (x.data || x.empty()), fault::usage, "x or b points nowhere, but has {} elements",
        std::max(b.size, x.size));
  check(!overlap(as_cview(x), b), fault::usage, "x and b share memory: give each its own");
}

template <class V> void check_vectors_of(shape2 a, cview<V> b, view<V> x) {
  check(b.size == a.rows, fault::usage, "the right-hand side has {} for a matrix of {}", counted(b.size, "element"),
        counted(a.rows, "row"));
  check(x.size == a.cols, fault::usage, "x has {} for a matrix of {}", counted(x.size, "element"),
        counted(a.cols, "column"));
  check_places(b, x);
}

template <class V> void check_columns_of(shape2 a, cview<V> b, view<V> x, index_t columns) {
  check(columns >= 1, fault::usage, "{} right-hand sides: give at least one", columns);
  check(b.size % columns == 0 && b.size / columns == a.rows, fault::usage,
        "{} right-hand sides have {} elements for a matrix of {} rows: give one for each row and column", columns,
        b.size, a.rows);
  check(x.size % columns == 0 && x.size / columns == a.cols, fault::usage,
        "{} answers have {} elements for a matrix of {} columns: give one for each", columns, x.size, a.cols);
  check_places(b, x);
}

/// Solves for b and x in the memory of a GPU by `solve`, which takes them in host memory. x is there when it returns: a
/// small upload is only enqueued, and a download waits for what is before it.
template <class V, class Solve> auto solve_through_host(cview<V> b, view<V> x, Solve solve) {
  host_array<V> home_b(b.size), home_x(x.size);
  copy_bytes(host_memory{}, home_b.data(), gpu_memory{}, b.data, home_b.byte_count());
  copy_bytes(host_memory{}, home_x.data(), gpu_memory{}, x.data, home_x.byte_count());
  auto report = solve(as_cview(home_b), as_view(home_x));
  copy_bytes(gpu_memory{}, x.data, host_memory{}, home_x.data(), home_x.byte_count());
  if (!x.empty()) copy_bytes(host_memory{}, home_x.data(), gpu_memory{}, x.data, sizeof(V));
  return report;
}

/// Whether what lives on one device serves a solver on the other: CPUs have no number.
bool is_same(device one, device other) { return one == other || (!one.is_gpu() && !other.is_gpu()); }

/// What a solver keeps; one that was moved from keeps nothing.
template <class State> State& there(const std::shared_ptr<State>& state) {
  check(state != nullptr, fault::usage, "this solver is empty, its system was moved to another one: use that");
  return *state;
}

/// Keeps a second call out of a solver while one runs.
class one_call {
public:
  explicit one_call(std::shared_ptr<std::atomic<bool>> runs) : runs_(std::move(runs)) {
    check(!runs_->exchange(true), fault::usage,
          "this solver is solving: call it when that has ended, or make another solver for another thread");
  }
  one_call(const one_call&) = delete;
  ~one_call() { *runs_ = false; }

private:
  std::shared_ptr<std::atomic<bool>> runs_;
};

using watcher = std::function<bool(const progress&)>;

/// The same watcher, whose `progress::x` may be kept: asked for when nobody is told, it says so, for the vectors that
/// it would be made of may have ended.
watcher while_it_is_told(watcher watch) {
  if (!watch) return watch;
  return [watch = std::move(watch)](const progress& p) {
    if (!p.x) return watch(p);
    const auto x = std::make_shared<const std::function<host_array<double>()>>(p.x);
    progress own = p;
    own.x = [there = std::weak_ptr(x)] {
      const auto now = there.lock();
      check(now != nullptr, fault::usage,
            "this x can be had only while the watcher is told: call progress::x there, and keep what it returns");
      return (*now)();
    };
    return watch(own);
  };
}

} // namespace

/// What a solver keeps. The system is solved in one of three ways: by the method that was named, by the ladder where
/// none was, in single precision where doubles are to be.
template <class V> struct solver<V>::state {
  solve_options given; ///< as they came, for a set-up for other values
  solve_options options;
  shape2 shape;
  prepared_system<V> named;
  std::unique_ptr<ladder<V>> climbing;
  std::unique_ptr<solver_in_single_precision> single;
  arranged_system<V> arranged; ///< by `options.scale` and `reorder`; its matrix is gone
  double setup_seconds = 0;
  setup_clock clock;
  bool told = false; ///< the set-up was reported
  /// Whether a call runs; of all states that follow each other in one solver.
  std::shared_ptr<std::atomic<bool>> runs = std::make_shared<std::atomic<bool>>(false);

  explicit state(const solve_options& o) : given(o), options(o) {
    check_options(o);
    options.watch = while_it_is_told(std::move(options.watch));
    notice_gpu_driver();
    if (options.solver != "auto") named.use(options.solver, options.where); // its parameters are views of it
    check_arranging(options, named.method);
  }

  /// From triplets or rows. `known`: a matrix that was looked at and is stored already.
  template <class Given> static std::unique_ptr<state> made(Given a, const solve_options& o, const matrix<V>* known) {
    const double began = now();
    const turn mine(o.where);
    auto one = std::make_unique<state>(o);
    one->set_up(std::move(a), known);
    one->setup_seconds = now() - began;
    return one;
  }
  template <class Given> void set_up(Given a, const matrix<V>* known);
  void set_up_arranged(coo<V> a);
  void set_up(matrix_source<V> a, const matrix<V>* known);

  solve_report solve(cview<V> b, view<V> x, const solve_options& o);
  solve_report solve_on_gpu(cview<V> b, view<V> x, const solve_options& o);
  std::vector<solve_report> solve_columns(cview<V> b, view<V> x, index_t columns);
  std::vector<solve_report> solve_columns_on_gpu(cview<V> b, view<V> x, index_t columns);
  std::vector<solve_report> solve_arranged(cview<V> b, view<V> x, index_t columns, bool on_gpu);
  /// With what the set-up has left of the limit on the time to the first solve; a ladder looks to that itself.
  solve_options with_time_left() const {
    solve_options o = options;
    if (!told && !climbing && !single) o.time_limit -= setup_seconds;
    return o;
  }
  void finish(solve_report& report);
};

template <class V> template <class Given> void solver<V>::state::set_up(Given a, const matrix<V>* known) {
  shape = a.shape;
  check_shape(shape, named.method);
  check_coordinates(options, shape);
  const auto triplets = [&] {
    if constexpr (std::is_same_v<Given, coo<V>>) return check_triplets(a), std::move(a);
    else return matrix_source<V>(a, a.where).take_triplets();
  };
  if constexpr (is_wide<V>)
    if (options.values == precision::f32) {
      single = std::make_unique<solver_in_single_precision>(triplets(), options);
      return;
    }
  if (scales(options) || moves(options)) {
    check(shape.rows == shape.cols, fault::input,
          "the matrix is {} x {}: only square ones are scaled or reordered by name", shape.rows, shape.cols);
    return set_up_arranged(triplets());
  }
  matrix_source<V> source(std::move(a), options.where);
  clock.end(source.has_rows() ? "upload" : "check");
  set_up(std::move(source), known);
}

/// From triplets that were checked. Whether A is symmetric is asked before it moves: entries are named by the caller's
/// numbers.
template <class V> void solver<V>::state::set_up_arranged(coo<V> a) {
  clock.end("check");
  const bool to_be_symmetric = named.method && named.method->needs.a.symmetric;
  if (to_be_symmetric && !options.assume_symmetric) {
    check_symmetry(a);
    options.assume_symmetric = true;
    clock.end("symmetry");
  }
  if (cpu::all_finite(as_cview(a.val))) { // otherwise the look says so
    const stops_set_up stop(
        [&, deadline = now() + options.time_limit] { return interruption(options, deadline, "the arrangement"); });
    try {
      arranged = arrange(a, options, named.method && named.method->needs.a.definite);
    } catch (const refusal& r) {
      named.refused = r;
      named.triplets = std::move(a);
      return;
    }
    a = std::move(arranged.a);
    tell_in_order(options, arranged.moves);
    clock.end("arrange");
  }
  set_up(matrix_source<V>(std::move(a), options.where), nullptr);
}

template <class V> void solver<V>::state::set_up(matrix_source<V> a, const matrix<V>* known) {
  if (named.method) named.set_up(std::move(a), arranged.scales, options, clock, known);
  else climbing = std::make_unique<ladder<V>>(std::move(a), options, clock, arranged.scales);
}

template <class V> solve_report solver<V>::state::solve(cview<V> b, view<V> x, const solve_options& o) {
  if (single) return std::move(solve_columns(b, x, 1).front());
  return climbing ? climbing->solve(b, x) : named.run(b, x, o);
}

template <class V> std::vector<solve_report> solver<V>::state::solve_columns(cview<V> b, view<V> x, index_t columns) {
  if constexpr (is_wide<V>)
    if (single) return single->solve(b, x, columns);
  return climbing ? climbing->solve(b, x, columns) : named.run(b, x, columns, with_time_left());
}

/// Where no method was named, where doubles are solved in single precision and where no solve can start, and for
/// vectors that are not plain, b and x go through host memory.
template <class V> solve_report solver<V>::state::solve_on_gpu(cview<V> b, view<V> x, const solve_options& o) {
  if (!single && !climbing)
    if (auto report = named.run_on_gpu(b, x, o)) return std::move(*report);
  return solve_through_host(b, x, [&](cview<V> home_b, view<V> home_x) { return solve(home_b, home_x, o); });
}

/// At once where the method does that, otherwise one after another.
template <class V>
std::vector<solve_report> solver<V>::state::solve_columns_on_gpu(cview<V> b, view<V> x, index_t columns) {
  if (single || climbing || named.refused)
    return solve_through_host(b, x,
                              [&](cview<V> home_b, view<V> home_x) { return solve_columns(home_b, home_x, columns); });
  solve_options o = with_time_left();
  std::vector<solve_report> reports = named.run_on_gpu(b, x, columns, o);
  if (!reports.empty()) return reports;
  if (named.method->template columns<V>())
    return solve_through_host(b, x,
                              [&](cview<V> home_b, view<V> home_x) { return named.run(home_b, home_x, columns, o); });
  const double most = o.time_limit, began = now();
  one_after_the_other next(o);
  for (index_t j = 0; j < columns; ++j) {
    reports.push_back(next(
        [&] { return solve_on_gpu(part(b, j * shape.rows, shape.rows), part(x, j * shape.cols, shape.cols), o); }));
    o.time_limit = most - (now() - began);
  }
  return reports;
}

/// Of a system that was moved, in the caller's order and memory.
template <class V>
std::vector<solve_report> solver<V>::state::solve_arranged(cview<V> b, view<V> x, index_t columns, bool on_gpu) {
  const auto solve_here = [&](cview<V> home_b, view<V> home_x) {
    return solve_moved<V>(arranged.moves, home_b, home_x, columns, [&](cview<V> moved_b, view<V> moved_x) {
      return columns == 1 ? std::vector{solve(moved_b, moved_x, with_time_left())}
                          : solve_columns(moved_b, moved_x, columns);
    });
  };
  return on_gpu ? solve_through_host(b, x, solve_here) : solve_here(b, x);
}

template <class V> template <class Given> void solver<V>::begin(Given&& a, const solve_options& o) {
  state_ = state::made(std::forward<Given>(a), o, nullptr);
}

/// The new state takes over the preconditioner of the old one, which cannot solve from then on.
template <class V> template <class Given> void solver<V>::begin_again(Given&& a, const matrix<V>* known) {
  const double began = now();
  const std::shared_ptr<state> held = state_;
  state& before = there(held);
  check(!before.named.is_given(), fault::usage,
        "the solver was made from operators of yours, which have their values themselves: make another one");
  check(a.shape == before.shape, fault::usage,
        "the new values are those of a matrix of {} x {}, but the solver's is {} x {}", a.shape.rows, a.shape.cols,
        before.shape.rows, before.shape.cols);
  const one_call alone(before.runs);
  const turn mine(before.given.where);
  auto next = std::make_unique<state>(before.given);
  next->runs = before.runs;
  next->named.succeed(before.named, "the last update_values did not come to its end");
  before.single.reset(), before.climbing.reset();
  next->set_up(std::forward<Given>(a), known);
  next->setup_seconds = now() - began;
  state_ = std::move(next);
}
template <class V> void solver<V>::update_values(coo<V> a) { begin_again(std::move(a), nullptr); }
template <class V> void solver<V>::update_values(const csr_arrays<V, std::int32_t>& a) {
  begin_again(csr_arrays(a), nullptr);
}
template <class V> void solver<V>::update_values(const csr_arrays<V, std::int64_t>& a) {
  begin_again(csr_arrays(a), nullptr);
}
template <class V> void solver<V>::update_values(const matrix<V>& a) {
  const device where = there(state_).given.where;
  check(is_same(a.where(), where), fault::usage, "the matrix lives on {}, but the solver runs on {}",
        describe(a.where()), describe(where));
  begin_again(a.to_triplets(), &a);
}

template <class V> solver<V>::solver(coo<V> a, const solve_options& o) { begin(std::move(a), o); }
template <class V> solver<V>::solver(const csr_arrays<V, std::int32_t>& a, const solve_options& o) {
  begin(csr_arrays(a), o);
}
template <class V> solver<V>::solver(const csr_arrays<V, std::int64_t>& a, const solve_options& o) {
  begin(csr_arrays(a), o);
}

template <class V> solver<V>::solver(const matrix<V>& a, const solve_options& o) {
  check(is_same(a.where(), o.where), fault::usage, "the matrix lives on {}, but the solver is to run on {}",
        describe(a.where()), describe(o.where));
  state_ = state::made(a.to_triplets(), o, &a);
}

template <class V>
solver<V>::solver(const any_operator<V>& a, const any_preconditioner<V>* m, const solve_options& o,
                  const operator_facts& facts, const any_operator<V>* transposed) {
  check(is_same(a.where(), o.where), fault::usage, "the operator lives on {}, but the solver is to run on {}",
        describe(a.where()), describe(o.where));
  refuse_arranging(o, "an operator of yours has no entries to scale or to move, and keeps");
  check(!is_wide<V> || o.values == precision::f64, fault::usage,
        "an operator of yours multiplies doubles, which cannot be rounded: leave values = f32 out, or give an operator "
        "of float");
  check(facts.norm >= 0 && std::isfinite(facts.norm) && facts.longest_row >= 0, fault::usage,
        "norm = {} and longest_row = {} of the operator must be finite and not negative; 0 is not known", facts.norm,
        facts.longest_row);
  state_ = std::make_unique<state>(o);
  state_->options.precond = m ? "own" : "none"; // for reports
  if (!state_->named.method) state_->named.use(state_->options.solver = "cg", o.where);
  state_->shape = a.shape();
  check_shape(a.shape(), state_->named.method);
  state_->named.set_up(a, m, facts, transposed, o);
}

template <class V> solver<V>::solver(solver&&) noexcept = default;
template <class V> solver<V>& solver<V>::operator=(solver&&) noexcept = default;
template <class V> solver<V>::~solver() = default;
template <class V> void solver<V>::set_limits(const solve_options& o) {
  check_options(o);
  state& s = there(state_);
  for (solve_options* const mine : {&s.options, &s.given}) {
    mine->rtol = o.rtol, mine->atol = o.atol;
    mine->max_iterations = o.max_iterations, mine->outlook = o.outlook, mine->time_limit = o.time_limit;
  }
  if (s.climbing) s.climbing->set_limits(o);
  if (s.single) s.single->set_limits(o);
}
template <class V> shape2 solver<V>::shape() const { return there(state_).shape; }
template <class V> double solver<V>::setup_seconds() const { return there(state_).setup_seconds; }

/// What a report says of the solver that gave it.
template <class V> void solver<V>::state::finish(solve_report& report) {
  accept_first_guess(report, given.rtol);
  if (!climbing) report.setup_seconds = 0;
  if (!told) report.setup_seconds += setup_seconds;
  if (!told && !single) report.setup_parts = clock.take();
  told = true;
  if (!single) report.scale = given.scale, report.reorder = given.reorder, report.arranged_about = arranged.about;
  if (single || climbing) return;
  report.solver = options.solver, report.precond = options.precond;
  named.describe_choice(report);
}

template <class V> solve_report solver<V>::solve(cview<V> b, view<V> x) {
  const std::shared_ptr<state> held = state_;
  state& s = there(held);
  check_vectors_of(s.shape, b, x);
  const bool on_gpu = lie_on_gpu(s.options.where, "b", b, "x", as_cview(x));
  const one_call alone(s.runs);
  const turn mine(s.options.where);
  const solve_options o = s.with_time_left();
  solve_report report = s.arranged.moves ? std::move(s.solve_arranged(b, x, 1, on_gpu).front())
                        : on_gpu         ? s.solve_on_gpu(b, x, o)
                                         : s.solve(b, x, o);
  s.finish(report);
  return report;
}

template <class V> std::vector<solve_report> solver<V>::solve(cview<V> b, view<V> x, index_t columns) {
  const std::shared_ptr<state> held = state_;
  state& s = there(held);
  check_columns_of(s.shape, b, x, columns);
  const bool on_gpu = lie_on_gpu(s.options.where, "b", b, "x", as_cview(x));
  const one_call alone(s.runs);
  const turn mine(s.options.where);
  auto reports = s.arranged.moves ? s.solve_arranged(b, x, columns, on_gpu)
                 : on_gpu         ? s.solve_columns_on_gpu(b, x, columns)
                                  : s.solve_columns(b, x, columns);
  for (solve_report& report : reports) s.finish(report);
  return reports;
}

template <class V> solve_report solve(coo<V> a, cview<V> b, view<V> x, const solve_options& o) {
  check_triplets(a); // before the vectors: sides that no matrix has fit none
  check_shape(a.shape, o.solver == "auto" ? nullptr : &find_solver(o.solver));
  check_vectors_of(a.shape, b, x);
  return solver<V>(std::move(a), o).solve(b, x);
}

template class solver<double>;
template class solver<float>;
template solve_report solve(coo<double>, cview<double>, view<double>, const solve_options&);
template solve_report solve(coo<float>, cview<float>, view<float>, const solve_options&);

} // namespace furrow
