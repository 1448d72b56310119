// SPDX-License-Identifier: BSD-3-Clause
#include "amg/amg_on_ranks.hpp"
#include "features.hpp"
#include "gather_rows.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "scatter_rows.hpp"
#include "side_by_side.hpp"
#include "state_on_ranks.hpp"

#include "core/check.hpp"
#include "core/clock.hpp"
#include "preconditioners/stop.hpp"
#include "solve/memory.hpp"
#include "solve/moves.hpp"
#include "solve/survey.hpp"
#include "solvers/entry.hpp"

#include <furrow/device.hpp>

#include <algorithm>
#include <cmath>

namespace furrow {
namespace {

/// All ranks are on processors, or all have a GPU.
std::unique_ptr<rank_device> open_gpu(communicator& c) {
  const auto all = gather_each(c, char(c.where().is_gpu()));
  together(c, [&] {
    check(std::ranges::count(all, all.front()) == c.size(), fault::usage,
          "some ranks have a GPU and some do not: give each rank one, or none");
  });
  return rank_device::open(c);
}

/// One of the first rank that has one in the memory of the host, on all of them.
template <class V> odd_entry odd_one(communicator& c, const rows_of_rank<V>& a) {
  odd_entry mine;
  for (index_t k = 0; k < a.far.nnz() && mine.row < 0; ++k)
    if (!std::isfinite(a.far.val[k]))
      mine = {a.first + a.far_rows[a.far.row[k]], a.plan.columns[a.far.col[k]], double(a.far.val[k])};
  for (index_t k = 0; k < a.own.nnz() && mine.row < 0; ++k)
    if (!std::isfinite(a.own.val[k])) mine = {a.first + a.own.row[k], a.first + a.own.col[k], double(a.own.val[k])};
  for (const odd_entry& one : gather_each(c, mine))
    if (one.row >= 0) return one;
  return mine;
}

} // namespace

template <class V>
solver_on_ranks<V>::state::state(communicator& all, coo<V> given, const solve_options& options)
    : c(all), o(options_of_first(all, options, precision_of<V>)), gpu(open_gpu(all)) {
  const auto here = enter();
  try {
    begin(std::move(given));
  } catch (...) {
    let_go();
    throw;
  }
}

template <class V> solver_on_ranks<V>::state::~state() {
  const auto here = enter();
  let_go();
}

/// What lies on a GPU ends on the queue that used it.
template <class V> void solver_on_ranks<V>::state::let_go() {
  m.reset(), a.reset(), kept.reset(), block.reset(), rows.own_there.reset();
}

template <class V> void solver_on_ranks<V>::state::begin(coo<V> given) {
  const double began = now();
  deadline = began + o.time_limit;
  clock = {};
  together(c, [&] {
    if (o.solver != "auto")
      check_runs_on_ranks({o.solver, o.precond == "auto" ? "jacobi" : o.precond, ""}, c.size(), o.where);
  });
  mine.entries = given.nnz();
  rows = take_apart_rows(c, send(std::move(given)));
  clock.end("apart");
  mine.first = rows.first, mine.rows = rows.own.shape.rows;
  mine.halo = rows.plan.columns.size(), mine.neighbours = index_t(rows.plan.receives.size());
  mine.coupled = rows.far.nnz();
  look();
  if (!refused) begin_with_rungs();
  setup_spent = mine.setup_seconds = now() - began;
  setup_parts = clock.take();
}

/// Rows that are checked: on the GPU, where all ranks have room for theirs and what is made of them there.
template <class V> matrix_source<V> solver_on_ranks<V>::state::send(coo<V> given) {
  const auto begins = begins_of_parts(c, given.shape.rows);
  const index_t first = begins[static_cast<std::size_t>(c.rank())];
  const bool fits = gpu && fits_on_gpus(c, matrix_source<V>::bytes_to_send(given.shape, given.nnz()));
  std::optional<matrix_source<V>> sent;
  together(c, [&] {
    if (fits && given.shape.rows > 0) {
      sent.emplace(std::move(given), o.where, first);
    } else {
      check_triplets(given);
      sent.emplace(matrix_source<V>::on_host(std::move(given), o.where));
    }
  });
  clock.end(sent->has_rows() ? "upload" : "check");
  return std::move(*sent);
}

/// What the matrix is, and what is tried.
template <class V> void solver_on_ranks<V>::state::look() {
  if (!rows.finite) {
    refused = refusal_of(odd_one(c, rows));
    return;
  }
  const bool named = o.solver != "auto";
  bool symmetric = o.assume_symmetric;
  const bool across = lies_across_ranks(o.precond);
  if (!symmetric && (!named || across || find_solver(o.solver).needs.a.symmetric)) {
    const std::string what = asymmetry(c, rows);
    together(c, [&] {
      check(what.empty() || !across, fault::input,
            "{0} over ranks is made for symmetric matrices, local:{0} for others, too: {1}", o.precond, what);
      check(what.empty() || !named, fault::input, "{}", what);
    });
    symmetric = what.empty();
  }
  known = features_on_ranks(c, rows, symmetric);
  clock.end("symmetry");
  coupled = begins_of_parts(c, mine.coupled).back();
  if (!named && symmetric && known.negative_only()) negate();
  rungs = rungs_now();
  together(c, [&] {
    for (const rank_rung& rung : rungs)
      if (!rung.gathers) check_runs_on_ranks(rung, c.size(), o.where);
  });
}

template <class V> std::vector<rank_rung> solver_on_ranks<V>::state::rungs_now() const {
  return is_named() ? rungs_by_name(o, known) : ladder_of_ranks(known, coupled, o.where, showed);
}

template <class V> void solver_on_ranks<V>::state::negate() {
  if (rows.own_there) rows.own_there->negate();
  for (V& v : rows.own.val) v = -v;
  for (V& v : rows.far.val) v = -v;
  known.negative_diagonal = 0;
  negated = true;
}

/// Where the first rung is the first rank's alone the rows go there at once, if it can have them.
template <class V> void solver_on_ranks<V>::state::begin_with_rungs() {
  const auto interrupted = [&] {
    if (c.of_first(o.cancelled && o.cancelled()) == 0) return false;
    refused = refusal{status::interrupted, "interrupted while it was set up"};
    return true;
  };
  if (rungs.front().gathers && !interrupted() && gather_rows_on_first({})) return;
  const auto asks_for_columns = [](const rank_rung& r) {
    return !r.gathers && !find_solver(r.solver).needs.a.symmetric;
  };
  if (std::ranges::any_of(rungs, asks_for_columns)) norm_1 = largest_column_sum(c, rows);
  choose_format();
  check_memory_of_ranks();
  if (refused || interrupted()) return;
  set_up();
}

/// Whether another rung may ask for the rows on the GPU.
template <class V> bool solver_on_ranks<V>::state::keeps_rows() const {
  return gpu && std::any_of(rungs.begin() + std::ptrdiff_t(at) + 1, rungs.end(),
                            [](const rank_rung& r) { return lies_across_ranks(r.precond); });
}

/// Stores the block, which goes: M of it is made before; on processors one over all ranks after it.
template <class V> void solver_on_ranks<V>::state::make_operator() {
  constexpr double vectors = 20; // of a method, and more
  std::unique_ptr<any_operator<V>> own;
  const bool keeps = keeps_rows();
  together(c, [&] {
    if (keeps && block && block->has_rows()) kept = block->rows_alone();
    if (block) own = block->store(chosen, facts);
    block.reset();
  });
  if (keeps && !fits_on_gpus(c, vectors * double(sizeof(V)) * double(mine.rows))) kept.reset();
  if (gpu) a = gpu->make_operator(c, rows, std::move(own));
  else together(c, [&] { a = std::make_unique<rank_operator<V>>(c, rows, std::move(own)); });
  clock.end("convert");
}

template <class V> void solver_on_ranks<V>::state::set_up() {
  if (rungs[at].gathers)
    require(++at < rungs.size(),
            "a ladder of ranks has rungs of all of them"); // what follows it is for those that cannot be gathered
  if (couples_ranks() && !gpu) make_operator();
  try {
    set_up_preconditioner([&](std::string_view precond, const solver_needs& needs) {
      return block ? make_preconditioner(precond, *block, facts, o.where, needs) : nullptr;
    });
  } catch (const refusal& r) {
    m.reset();
    if (is_named() && rungs.size() == 1) refused = r; // otherwise `stands` says so
  }
  clock.end("precond");
  if (!a) make_operator();
}

/// How the block is stored, which leaves `rows`.
template <class V> void solver_on_ranks<V>::state::choose_format() {
  together(c, [&] {
    if (mine.rows == 0) return;
    if (rows.own_there) block = std::move(rows.own_there);
    else block = matrix_source<V>::on_host(std::move(rows.own), o.where);
    rows.own_there.reset();
    if (block->has_rows()) block->drop_triplets();
    facts = block->measure();
    clock.end("look");
    chosen = choose(facts, precision_of<V>, o.where, wish_of(o));
  });
  clock.end("choose");
}

/// With the entries beside it the block, M and the vectors must fit before they are taken.
template <class V> void solver_on_ranks<V>::state::check_memory_of_ranks() {
  constexpr double more_across_ranks = 16; // bytes an entry: A once more, and rows of P
  double takes = 0, takes_on_gpu = 0, there_on_gpu = 0;
  const rank_rung& rung = rungs[at].gathers ? rungs[at + 1] : rungs[at];
  together(c, [&] {
    if (!block) return;
    solve_options one = o;
    one.solver = rung.solver, one.precond = std::string(name_on_block(rung.precond));
    there_on_gpu = block->bytes_on_gpu();
    const double held = block->has_rows() ? 0 : bytes_of_entry * double(facts.nnz); // by the host
    const double there = 2 * double(sizeof(V)) * double(mine.rows) + held;
    const memory_estimate estimate = estimate_memory(chosen, facts, precision_of<V>, one, there_on_gpu);
    const double far = bytes_of_entry * double(rows.far.nnz());
    takes = estimate.host - there + (gpu ? 0 : far);
    if (gpu) takes_on_gpu = estimate.gpu + far;
    if (gpu && lies_across_ranks(rung.precond)) takes_on_gpu += more_across_ranks * double(facts.nnz);
  });
  // All entries twice where one rank had them whole, and while a rank takes its own apart; b and x.
  const double entries = bytes_of_entry * double(mine.entries), vectors = 2 * double(sizeof(V)) * double(mine.rows);
  const double more = check_memory_of_machine(c, takes), there = of_machine(c, entries + vectors);
  const double again = of_machine(c, entries);
  if (gpu) check_memory_of_gpus(c, takes_on_gpu - there_on_gpu);
  if (o.announce) o.announce({.host = there + std::max(more, again), .gpu = takes_on_gpu});
}

/// of_block(name, needs): M of the rank's own block; null where it has no rows.
template <class V> template <class Make> void solver_on_ranks<V>::state::set_up_preconditioner(Make of_block) {
  const rank_rung& rung = rungs[at];
  m_of = at;
  const stops_set_up stop([&] { return interruption(o, deadline, rung.precond); });
  if (couples_ranks()) {
    const int degree = degree_of_amg(rung.precond);
    m = gpu ? amg_on_gpus<V>(c, *gpu, rows_there(), degree) : amg_on_ranks<V>(c, rows_of_all_columns(), degree);
    return;
  }
  std::unique_ptr<any_preconditioner<V>> own;
  together(c, [&] {
    try {
      own = of_block(name_on_block(rung.precond), find_solver(rung.solver).needs);
    } catch (refusal& r) {
      if (mine.first > 0 && names_rows(r.message))
        r.message += fmt::format("; counted from row {} of the matrix, the first one of the rank", mine.first + 1);
      throw;
    }
  });
  m = std::make_unique<block_of_rank<V>>(c, std::move(own));
}

/// From the operator; one over all ranks finds its rows itself.
template <class V> void solver_on_ranks<V>::state::set_up_preconditioner_again() {
  const coo<V> own = couples_ranks() ? coo<V>{} : a->own_block();
  set_up_preconditioner([&](std::string_view precond, const solver_needs& needs) {
    return mine.rows > 0 ? make_preconditioner(precond, own, o.where, needs) : nullptr;
  });
}

/// Of A in the spectral norm, at most.
template <class V> double solver_on_ranks<V>::state::norm_for(const solver_entry& method) const {
  if (method.needs.a.symmetric) return rows.norm_inf;
  if (!norm_1) {
    coo<V> wide;
    together(c, [&] {
      auto told = a->to_triplets();
      require(told.has_value(), "every format gives back its triplets");
      wide = std::move(*told);
    });
    norm_1 = largest_column_sum(c, wide, rows.plan);
  }
  return std::sqrt(rows.norm_inf) * std::sqrt(*norm_1); // each by itself: the product of two below 1e-162 is 0
}

/// The rank's rows as they were given.
template <class V> coo<V> solver_on_ranks<V>::state::rows_of_all_columns() const {
  coo<V> all;
  together(c, [&] {
    if (a) {
      auto told = a->to_triplets();
      require(told.has_value(), "every format gives back its triplets");
      all = std::move(*told);
    } else {
      const coo<V>& own = block ? block->triplets() : rows.own_there ? rows.own_there->triplets() : rows.own;
      all = side_by_side(own, rows.far, as_cview(rows.far_rows));
    }
    all = with_global_columns(std::move(all), rows.first, as_cview(rows.plan.columns), rows.unknowns);
  });
  return all;
}

/// The rank's rows on its GPU: as they lie there, or sent once more.
template <class V> rows_of_gpu<V> solver_on_ranks<V>::state::rows_there() const {
  rows_of_gpu<V> all;
  together(c, [&] {
    all.begins = rows.begins, all.plan = rows.plan;
    if (a) all.far = a->far_block(), all.far_rows = a->far_rows();
    else all.far = rows.far, all.far_rows = rows.far_rows;
    if (mine.rows == 0) return;
    const auto& source = block ? block : kept;
    if (source && source->has_rows()) all.own = source->rows();
    else all.own = send_rows(source ? source->triplets() : a->own_block());
  });
  return all;
}

/// Whether it has them then. The ranks let go of A and M before the first rank makes its own.
template <class V> bool solver_on_ranks<V>::state::gather_rows_on_first(climbed_before before) {
  const index_t entries = begins_of_parts(c, mine.entries).back();
  solve_options single = o;
  single.solver = single.precond = "auto";
  not_gathered = too_large_for_first(c, {rows.unknowns, rows.unknowns}, entries, precision_of<V>, single);
  if (!not_gathered.empty()) return false;
  coo<V> all = rows_of_all_columns();
  let_go();
  rows.own = {}, rows.far = {};
  gathered_because = rungs[at].reason;
  before.indefinite = showed.indefinite, before.singular_by = singular_by;
  first = std::make_unique<system_on_first<V>>(c, std::move(all), single, std::move(before));
  return true;
}

template <class V>
solver_on_ranks<V>::solver_on_ranks(communicator& c, coo<V> rows, const solve_options& options)
    : state_(as_one(c, [&] { return std::make_unique<state>(c, std::move(rows), options); })) {}
template <class V> solver_on_ranks<V>::solver_on_ranks(solver_on_ranks&&) noexcept = default;
template <class V> solver_on_ranks<V>::~solver_on_ranks() = default;

template <class V> ranks_report solver_on_ranks<V>::solve(cview<V> b, view<V> x) {
  check(state_ != nullptr, fault::usage, "this solver is empty, its system was moved to another one: use that");
  state& own = *state_; // also where a monitor moves the solver
  return as_one(own.c, [&] {
    try {
      return own.solve(b, x);
    } catch (...) {
      if (own.gpu) own.gpu->leave(); // where another one's kernels wait for this one's
      throw;
    }
  });
}

template class solver_on_ranks<double>;
template class solver_on_ranks<float>;

} // namespace furrow
