// SPDX-License-Identifier: BSD-3-Clause
#include <furrow/ranks.hpp>

#include "amg/amg_on_ranks.hpp"
#include "gpu/rank_device.hpp"
#include "memory.hpp"
#include "operator.hpp"
#include "options.hpp"
#include "parts.hpp"
#include "preconditioner.hpp"
#include "scatter_rows.hpp"
#include "together.hpp"

#include "core/check.hpp"
#include "core/clock.hpp"
#include "core/parameters.hpp"
#include "solve/memory.hpp"
#include "solve/run.hpp"

#include <furrow/matrix.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace furrow {
namespace {

solve_report ended(status why, std::string message, double relative_residual) {
  solve_report report;
  report.why = why, report.message = std::move(message), report.relative_residual = relative_residual;
  return report;
}
/// All ranks are on processors, or all have a GPU.
std::unique_ptr<rank_device> open_gpu(communicator& c) {
  const auto all = gather_each(c, char(c.where().is_gpu()));
  together(c, [&] {
    check(std::ranges::count(all, all.front()) == c.size(), fault::usage,
          "some ranks have a GPU and some do not: give each rank one, or none");
  });
  return rank_device::open(c);
}
constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

} // namespace

/// What a rank keeps. Every branch is taken by all ranks alike: it rests on what they have asked each other.
template <class V> struct solver_on_ranks<V>::state {
  communicator& c;
  solve_options o;
  std::unique_ptr<rank_device> gpu; ///< null: none; ends last
  rows_of_rank<V> rows;
  rank_part mine;
  std::optional<refusal> refused; ///< why no solve can start
  bool symmetric = false;
  choice chosen;
  std::unique_ptr<operator_of_rank<V>> a;
  std::vector<rank_rung> rungs;
  std::size_t at = 0; ///< the rung that `m` belongs to
  std::unique_ptr<any_preconditioner<V>> m;

  state(communicator& all, coo<V> given, const solve_options& options);
  state(const state&) = delete;
  ~state();
  std::unique_ptr<rank_device::scope> enter() const { return gpu ? gpu->enter() : nullptr; }
  void look();
  void check_memory_of_ranks();
  coo<V> rows_of_all_columns() const;
  static constexpr double bytes_of_entry = 8 + sizeof(V); ///< as a triplet
  void set_up();
  void set_up_preconditioner(const coo<V>& block);
  bool couples_ranks() const { return lies_across_ranks(rungs[at].precond); }
  ranks_report solve(cview<V> b, view<V> x);
  solve_report refusal_report(cview<V> b, cview<V> x) const;
  std::optional<solve_report> before_solving(cview<V> b, view<V> x) const;
  solve_report climb(cview<V> b, view<V> x);
  solve_report run(cview<V> b, view<V> x, double seconds_left) const;
  bool show_to_first(const progress& now, cview<double> x) const;
  void describe(solve_report& report) const;
};

template <class V>
solver_on_ranks<V>::state::state(communicator& all, coo<V> given, const solve_options& options)
    : c(all), o(options_of_first(all, options, precision_of<V>)), gpu(open_gpu(all)) {
  const auto here = enter();
  const double began = now();
  together(c, [&] {
    if (o.solver != "auto")
      check_runs_on_ranks({o.solver, o.precond == "auto" ? "jacobi" : o.precond, ""}, c.size(), o.where);
  });
  mine.entries = given.nnz();
  rows = take_apart_rows(c, std::move(given));
  mine.first = rows.first, mine.rows = rows.own.shape.rows;
  mine.halo = rows.plan.columns.size(), mine.neighbours = index_t(rows.plan.receives.size());
  mine.coupled = rows.far.nnz();
  look();
  if (!refused) set_up();
  mine.setup_seconds = now() - began;
}

/// What lies on a GPU ends on the queue that used it.
template <class V> solver_on_ranks<V>::state::~state() {
  const auto here = enter();
  m.reset(), a.reset();
}

/// M of the rank's own block before the operator takes its entries; one over all ranks from the operator's.
template <class V> void solver_on_ranks<V>::state::set_up() {
  const auto make_operator = [&] {
    if (gpu) a = gpu->make_operator(c, rows, chosen);
    else together(c, [&] { a = std::make_unique<rank_operator<V>>(c, rows, chosen); });
  };
  if (couples_ranks()) make_operator();
  try {
    set_up_preconditioner(rows.own);
  } catch (const refusal& r) {
    refused = r;
  }
  if (!a) make_operator();
}

/// What the matrix is, what is tried, and how the block is stored.
template <class V> void solver_on_ranks<V>::state::look() {
  if (!rows.finite) {
    refused = refusal{status::nan, "iteration 0: the matrix holds a NaN or an infinity"};
    return;
  }
  const bool named = o.solver != "auto";
  symmetric = o.assume_symmetric;
  const bool across = lies_across_ranks(o.precond);
  if (!symmetric && (!named || across || find_solver(o.solver).needs.a.symmetric)) {
    const std::string what = asymmetry(c, rows);
    together(c, [&] {
      check(what.empty() || !across, fault::input, "{} is made for symmetric matrices: {}", o.precond, what);
      check(what.empty() || !named, fault::input, "{}", what);
    });
    symmetric = what.empty();
  }
  rungs = rungs_on_ranks(o, symmetric, rows.positive_diagonal, rows.full_diagonal);
  together(c, [&] {
    for (const rank_rung& rung : rungs) check_runs_on_ranks(rung, c.size(), o.where);
  });
  check_memory_of_ranks();
  if (c.of_first(o.cancelled && o.cancelled()) != 0)
    refused = refusal{status::interrupted, "interrupted while it was set up"};
}

/// Chooses how the block is stored; with the entries beside it, M and the vectors it must fit before it is taken.
template <class V> void solver_on_ranks<V>::state::check_memory_of_ranks() {
  double takes = 0, takes_on_gpu = 0;
  together(c, [&] {
    if (mine.rows == 0) return;
    const stats s = measure(rows.own);
    chosen = choose(s, precision_of<V>, o.where, wish_of(o));
    solve_options one = o;
    one.solver = rungs.front().solver, one.precond = std::string(name_on_block(rungs.front().precond));
    const double there = 2 * double(sizeof(V)) * double(mine.rows) + bytes_of_entry * double(rows.own.nnz());
    const memory_estimate estimate = estimate_memory(chosen, s, precision_of<V>, one);
    const double far = bytes_of_entry * double(rows.far.nnz());
    takes = estimate.host - there + (gpu ? 0 : far);
    if (gpu) takes_on_gpu = estimate.gpu + far;
  });
  // All entries twice where one rank had them whole, and while a rank takes its own apart; b and x.
  const double entries = bytes_of_entry * double(mine.entries), vectors = 2 * double(sizeof(V)) * double(mine.rows);
  const double more = check_memory_of_machine(c, takes), there = of_machine(c, entries + vectors);
  const double again = of_machine(c, entries);
  if (gpu) check_memory_of_gpus(c, takes_on_gpu);
  if (o.announce) o.announce({.host = there + std::max(more, again), .gpu = takes_on_gpu});
}

/// The rank's rows as they were given, from the operator.
template <class V> coo<V> solver_on_ranks<V>::state::rows_of_all_columns() const {
  coo<V> all;
  together(c, [&] {
    auto told = a->to_triplets();
    require(told.has_value(), "every format gives back its triplets");
    all = with_global_columns(std::move(*told), rows.first, as_cview(rows.plan.columns), rows.unknowns);
  });
  return all;
}

template <class V> void solver_on_ranks<V>::state::set_up_preconditioner(const coo<V>& block) {
  const rank_rung& rung = rungs[at];
  if (couples_ranks()) {
    m = amg_on_ranks<V>(c, rows_of_all_columns(), degree_of_amg(rung.precond));
    return;
  }
  std::unique_ptr<any_preconditioner<V>> own;
  together(c, [&] {
    if (mine.rows > 0)
      own = make_preconditioner(name_on_block(rung.precond), block, o.where, find_solver(rung.solver).needs);
  });
  m = std::make_unique<block_of_rank<V>>(c, std::move(own));
}

/// With the residual of the first guess, where A is there.
template <class V> solve_report solver_on_ranks<V>::state::refusal_report(cview<V> b, cview<V> x) const {
  if (!a) return ended(refused->why, refused->message, not_known);
  host_array<V> r(b.size), first(x.size);
  std::ranges::copy(b, r.begin());
  std::ranges::copy(x, first.begin());
  if (gpu) {
    gpu_array<V> there(r);
    a->apply(V(-1), as_cview(gpu_array<V>(first)), V(1), as_view(there));
    r = host_array<V>(there);
  } else {
    a->apply(V(-1), as_cview(first), V(1), as_view(r));
  }
  double squares[] = {0, 0};
  for (const V v : r) squares[0] += double(v) * double(v);
  for (const V v : b) squares[1] += double(v) * double(v);
  c.sum({squares, 2});
  return ended(refused->why, refused->message, std::sqrt(squares[0] / squares[1]));
}

/// The end of a solve that does not begin.
template <class V> std::optional<solve_report> solver_on_ranks<V>::state::before_solving(cview<V> b, view<V> x) const {
  if (refused && !a) return ended(refused->why, refused->message, not_known);
  for (auto what : {not_finite(b, "b"), not_finite(as_cview(x), "the first guess")})
    if (what = first_sentence(c, what); !what.empty()) return ended(status::nan, what, not_known);
  if (!c.any(!std::ranges::all_of(b, [](V v) { return v == V(0); }))) {
    std::fill(x.begin(), x.end(), V(0));
    solve_report report = ended(status::converged, "b is zero, so x is zero", 0);
    report.history = report.history_seconds = {0};
    return report;
  }
  if (refused) return refusal_report(b, as_cview(x));
  return {};
}

/// Asks the monitor of rank 0, which gets the x of all; whether it says to go on.
template <class V> bool solver_on_ranks<V>::state::show_to_first(const progress& now, cview<double> x) const {
  host_array<double> all;
  bool goes_on = true;
  together(c, [&] {
    if (c.rank() == 0) all = host_array<double>(rows.unknowns);
  });
  gather(c, x, as_view(all), rows.begins);
  together(c, [&] {
    if (c.rank() == 0) goes_on = o.monitor(now, as_cview(all));
  });
  return c.of_first(goes_on) != 0;
}

template <class V> solve_report solver_on_ranks<V>::state::run(cview<V> b, view<V> x, double seconds_left) const {
  const solver_entry& method = find_solver(rungs[at].solver);
  const double norm_2 = method.needs.a.symmetric ? rows.norm_inf : std::sqrt(rows.norm_inf * rows.norm_1);
  solve_options options = o;
  options.time_limit = seconds_left;
  if (o.monitor) options.monitor = [&](const progress& now, cview<double> mine) { return show_to_first(now, mine); };
  const linear_system<V> system{.a = *a,
                                .m = *m,
                                .b = b,
                                .x = x,
                                .norm_inf = rows.norm_inf,
                                .norm_2 = norm_2,
                                .longest_row = rows.longest_row,
                                .parameters = take_apart(rungs[at].solver).parameters,
                                .ranks = &c,
                                .unknowns = rows.unknowns,
                                .first_row = rows.first};
  solve_report report = run_on_host_vectors<V>(method, system, options);
  report.solver = rungs[at].solver, report.precond = rungs[at].precond;
  return report;
}

/// One rung after the other until one of them converges; x goes along.
template <class V> solve_report solver_on_ranks<V>::state::climb(cview<V> b, view<V> x) {
  std::vector<solve_rung> tried;
  double spent = 0, setting_up = 0;
  for (;;) {
    solve_report report = run(b, x, o.time_limit - spent);
    spent += report.solve_seconds;
    const rank_rung& rung = rungs[at];
    tried.push_back({rung.solver, rung.precond, device{}, rung.reason, report.message, report.why, report.iterations,
                     report.relative_residual, setting_up, report.solve_seconds});
    const bool over = report.why == status::converged || report.why == status::interrupted ||
                      report.why == status::nan || spent > o.time_limit || at + 1 == rungs.size();
    if (!over) {
      const double began = now();
      ++at;
      try {
        set_up_preconditioner(a->own_block());
        setting_up = c.max(now() - began);
        continue;
      } catch (const refusal& r) {
        report.message += fmt::format("; {} could not follow: {}", rungs[at].solver, r.message);
        --at;
      }
    }
    report.solve_seconds = spent;
    if (o.solver == "auto") report.rungs = std::move(tried);
    return report;
  }
}

/// With what is known of the operator; numbers of bytes are those of all ranks.
template <class V> void solver_on_ranks<V>::state::describe(solve_report& report) const {
  report.setup_seconds = c.max(mine.setup_seconds);
  if (report.solver.empty() && !rungs.empty()) report.solver = rungs[at].solver, report.precond = rungs[at].precond;
  if (!a) return;
  const double vectors =
      rungs.empty() ? 0 : double(2 + find_solver(rungs[at].solver).vectors(take_apart(rungs[at].solver).parameters));
  const double stored =
      a->stored_bytes() + (m ? m->stored_bytes() : 0) + double(sizeof(V)) * double(mine.rows) * vectors;
  double bytes[] = {report.bytes_per_iteration, a->bytes_per_apply(), stored};
  c.sum({bytes, 3});
  report.bytes_per_iteration = bytes[0], report.product_bytes = bytes[1], report.stored_bytes = bytes[2];
  report.format = chosen.format ? name_of(chosen) : "none";
  report.kernel = a->kernel();
  report.reason = chosen.format ? chosen.reason : "this rank has no rows";
  if (m) report.levels = m->levels();
  if (m && couples_ranks()) report.precond_about = m->describe();
  if (report.precond.starts_with("local:"))
    report.precond_about = fmt::format("{} of the block of each of {} ranks", name_on_block(report.precond), c.size());
  report.matrix_about = fmt::format("{} {}", symmetric ? "symmetric" : "not symmetric,",
                                    rows.positive_diagonal ? "with a positive diagonal"
                                    : rows.full_diagonal   ? "with a diagonal of both signs or a negative one"
                                                           : "with zeros on the diagonal");
}

template <class V>
solver_on_ranks<V>::solver_on_ranks(communicator& c, coo<V> rows, const solve_options& options)
    : state_(as_one(c, [&] { return std::make_unique<state>(c, std::move(rows), options); })) {}
template <class V> solver_on_ranks<V>::solver_on_ranks(solver_on_ranks&&) noexcept = default;
template <class V> solver_on_ranks<V>::~solver_on_ranks() = default;

template <class V> ranks_report solver_on_ranks<V>::state::solve(cview<V> b, view<V> x) {
  together(c, [&] { check_part_of_system(mine.rows, b, x); });
  const auto here = enter();
  const double began = now(), waited = a ? a->waited() : 0;
  ranks_report result;
  if (auto early = before_solving(b, x)) result.report = std::move(*early);
  else result.report = climb(b, x);
  if (gpu) gpu->check();
  describe(result.report);
  rank_part part = mine;
  part.solve_seconds = now() - began, part.where = o.where;
  if (gpu) result.way = gpu->way();
  part.waiting_seconds = a ? a->waited() - waited : 0;
  result.parts = gather_each(c, part);
  return result;
}

template <class V> ranks_report solver_on_ranks<V>::solve(cview<V> b, view<V> x) {
  return as_one(state_->c, [&] {
    try {
      return state_->solve(b, x);
    } catch (...) {
      if (state_->gpu) state_->gpu->leave(); // where another one's kernels wait for this one's
      throw;
    }
  });
}

template class solver_on_ranks<double>;
template class solver_on_ranks<float>;

} // namespace furrow
