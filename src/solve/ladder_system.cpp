// SPDX-License-Identifier: BSD-3-Clause
#include "ladder_system.hpp"

#include "coordinates.hpp"
#include "memory.hpp"
#include "transposed.hpp"

#include "core/check.hpp"
#include "core/clock.hpp"
#include "core/host_room.hpp"
#include "preconditioners/host_factors.hpp"
#include "preconditioners/stop.hpp"
#include "solvers/entry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace furrow {
namespace {

/// How a rung that could not be set up ended.
void leave(solve_rung& tried, status why, std::string outcome) {
  tried.why = why;
  tried.outcome = std::move(outcome);
  tried.relative_residual = std::numeric_limits<double>::quiet_NaN();
}

/// Refuses what takes more than there is.
void must_fit(std::string_view precond, double takes, host_room most, std::string_view side) {
  if (!most.takes(takes))
    throw_sentence(fault::memory, "{} takes about {:.3g} GB on the {}, of which {:.3g} GB can be had", precond,
                   takes * 1e-9, side, most.bytes() * 1e-9);
}

/// Whoever is told of iterations is not while `unseen` says so; who waits for an answer may stop it all the same.
void tell_of_seen_ones(solve_options& o, const std::shared_ptr<const bool>& unseen) {
  if (o.watch || o.cancelled)
    o.watch = [unseen, told = std::move(o.watch), cancelled = o.cancelled](const progress& p) {
      return *unseen ? !(cancelled && cancelled()) : !told || told(p);
    };
  if (o.monitor)
    o.monitor = [unseen, told = std::move(o.monitor)](const progress& p, cview<double> x) {
      return *unseen || told(p, x);
    };
}

} // namespace

template <class V> struct ladder_system<V>::place {
  device where;
  std::unique_ptr<any_operator<V>> a, transposed{}; ///< A', once a rung needs it and A is not symmetric

  const any_operator<V>* transpose(bool symmetric) {
    if (symmetric) return a.get();
    if (!transposed) transposed = make_transposed(*a->to_triplets(), where);
    return transposed.get();
  }
};

template <class V> struct ladder_system<V>::part {
  solve_rung tried;
  std::unique_ptr<any_preconditioner<V>> m;
};

template <class V>
ladder_system<V>::ladder_system(const solve_options& o, std::shared_ptr<const diagonal_scales<V>> around_m)
    : options(o), around_m_(std::move(around_m)) {}
template <class V> ladder_system<V>::~ladder_system() = default;

template <class V> const any_operator<V>& ladder_system<V>::a() const { return *places_.front()->a; }

template <class V> void ladder_system<V>::get_to_know(const matrix_source<V>& a, const stats& sums) {
  known = features_of(a, sums, options.assume_symmetric);
  if (around_m_ && !around_m_->symmetric) known.symmetric = false; // as M is
  if (!options.where.is_gpu() && may_fall_apart(known)) {
    const stops_set_up stop([&] { return interruption(options, deadline, "the form of diagonal blocks"); });
    try {
      find_diagonal_blocks(a.triplets(), known);
    } catch (const refusal&) { // as whoever asks next is told
    }
  }
  negated = known.symmetric && known.negative_only();
  if (negated) known.negative_diagonal = 0;
}

template <class V>
std::optional<refusal> ladder_system<V>::look(matrix_source<V>& a, setup_clock& clock,
                                              const std::function<bool(const features&)>& few_products) {
  bool looked = false;
  survey s = survey_of<V>(a, options, clock, nullptr, [&](const stats& sums) {
    get_to_know(a, sums);
    looked = true;
    clock.end("symmetry");
    return few_products(known);
  });
  facts = std::move(s.facts), chosen = std::move(s.chosen), announced_ = s.needed;
  if (s.refused) return s.refused;
  options.scale = options.reorder = "none"; // it is done
  if (!looked) get_to_know(a, facts);
  norm_2 = known.symmetric ? facts.norm_inf : std::sqrt(facts.norm_inf) * std::sqrt(largest_column_sum(a.triplets()));
  norm_2 = std::min(norm_2, std::numeric_limits<double>::max()); // sums may be beyond all numbers where no entry is
  clock.end("symmetry");
  if (negated) a.negate();
  return {};
}

template <class V> void ladder_system<V>::store(matrix_source<V> a, const rung_plan& first, setup_clock& clock) {
  first_ = std::make_unique<part>(precondition(first, &a));
  clock.end("precond");
  if (a.has_rows()) rows_ = a.rows_alone();
  places_.push_back(std::make_unique<place>(place{options.where, a.store(chosen, facts)}));
  if (rows_ && announced_.gpu > double(available_gpu_memory(options.where.ordinal))) rows_.reset();
  clock.end("convert");
}

template <class V> typename ladder_system<V>::place& ladder_system<V>::on(device where) {
  for (const auto& p : places_)
    if (p->where == where) return *p;
  const choice c = choose(facts, precision_of<V>, where);
  places_.push_back(std::make_unique<place>(place{where, make<V>(c, where, *a().to_triplets())}));
  return *places_.back();
}

template <class V> bool ladder_system<V>::has_room_on_gpu(std::string_view precond, std::optional<double>& free) const {
  if (!options.where.is_gpu() || !find_preconditioner(precond).on_gpu) return false;
  constexpr double little = 1 << 24;
  const preconditioner_layout l = lay_out_preconditioner(precond, facts, precision_of<V>, options);
  const double takes = l.bytes + l.making_on_gpu;
  if (takes <= little) return true;
  if (!free) free = double(available_gpu_memory(options.where.ordinal));
  const double lent = rows_ ? rows_->bytes_on_gpu() : 0, of_a = is_stored() ? 0 : announced_.gpu;
  return takes <= *free + lent - of_a;
}

template <class V>
void ladder_system<V>::announce_more(const rung_plan& plan, const preconditioner_layout& m, bool on_gpu) {
  solve_options o = options;
  o.solver = plan.solver;
  memory_estimate more = estimate_next_memory(chosen, facts, precision_of<V>, o, m, on_gpu);
  if (rows_) more.gpu += rows_->bytes_on_gpu();
  if (around_m_) more.host += double(8 + sizeof(V)) * double(facts.nnz); // the triplets that M is made of
  if (more.host <= announced_.host && more.gpu <= announced_.gpu) return;
  announced_ = {std::max(more.host, announced_.host), std::max(more.gpu, announced_.gpu)};
  if (options.announce) options.announce(announced_);
}

template <class V>
std::unique_ptr<any_preconditioner<V>> ladder_system<V>::make_m(const std::string& precond,
                                                                const matrix_source<V>* from, device where,
                                                                const solver_needs& needed) const {
  if (around_m_ && may_be_scaled(precond)) {
    if (from) return make_scaled_preconditioner(precond, from->triplets(), where, needed, around_m_);
    return make_scaled_preconditioner(precond, *a().to_triplets(), where, needed, around_m_);
  }
  return from ? make_preconditioner(precond, *from, facts, where, needed)
              : make_preconditioner(precond, *a().to_triplets(), where, needed);
}

/// The host where M has no part for the GPU, and where it has no room there and nobody asked for it by name.
template <class V>
device ladder_system<V>::place_of_m(std::string_view precond, bool first, std::string& reason) const {
  if (!options.where.is_gpu() || !find_preconditioner(precond).on_gpu) return {};
  std::optional<double> free;
  if (first || options.precond != "auto" || around_m_ || has_room_on_gpu(precond, free)) return options.where;
  constexpr std::string_view for_room = "; on the host, for the GPU has no room for it";
  if (!reason.ends_with(for_room)) reason += for_room;
  return {};
}

template <class V>
typename ladder_system<V>::part ladder_system<V>::precondition(const rung_plan& plan, const matrix_source<V>* from) {
  const double began = now();
  const bool first = places_.empty();
  part made{{plan.solver, plan.precond, {}, plan.reason, {}}, {}};
  const device where = made.tried.where = place_of_m(plan.precond, first, made.tried.reason);
  const bool on_gpu = where.is_gpu();
  const stops_set_up stop([&] { return interruption(options, deadline, plan.precond); });
  const bounds_operations bound(plan.operations);
  try {
    const preconditioner_layout l = lay_out_preconditioner(plan.precond, facts, precision_of<V>, options);
    must_fit(plan.precond, l.making + (on_gpu ? 0 : l.bytes), {}, "host");
    if (rows_ && !first && l.bytes + l.making_on_gpu > double(available_gpu_memory(options.where.ordinal)))
      rows_.reset();
    if (!first && rows_ && on_gpu) from = &*rows_;
    if (on_gpu)
      must_fit(plan.precond, l.bytes + l.making_on_gpu, double(available_gpu_memory(options.where.ordinal)), "GPU");
    if (!first) announce_more(plan, l, on_gpu);
    const solver_needs needed = with_coordinates(find_solver(plan.solver).needs_for(known.symmetric), options);
    const bool scaled = around_m_ && may_be_scaled(plan.precond); // whose vectors are those of `where`
    std::optional<lets_factors_stay> on_host;
    if (on_gpu && !scaled && options.precond == "auto") on_host.emplace();
    made.m = make_m(plan.precond, from, where, needed);
    if (on_host && on_host->stayed()) {
      made.tried.where = {};
      if (!first) announce_more(plan, l, false);
    }
  } catch (const refusal& r) {
    leave(made.tried, r.why, r.message);
  } catch (const error& e) {
    if (e.kind == fault::internal || options.precond != "auto") throw;
    leave(made.tried, status::breakdown, e.what());
  }
  if (rows_) rows_->drop_triplets();
  made.tried.setup_seconds = now() - began;
  return made;
}

template <class V>
std::unique_ptr<typename ladder_system<V>::attempt> ladder_system<V>::set_up(rung_plan& plan, solve_rung& tried) {
  part made = first_ ? std::move(*first_) : precondition(plan, nullptr);
  first_.reset();
  tried = std::move(made.tried);
  if (!made.m) return nullptr;
  solve_options o = options;
  o.solver = plan.solver, o.precond = plan.precond, o.where = tried.where;
  plan.reason = tried.reason;
  const auto unseen = std::make_shared<bool>(false);
  tell_of_seen_ones(o, unseen);
  place& p = on(tried.where);
  const any_operator<V>* transposed = nullptr;
  if (find_solver(plan.solver).needs.transposed) try {
      transposed = p.transpose(known.symmetric);
    } catch (const error& e) {
      if (e.kind != fault::memory) throw;
      leave(tried, status::breakdown, e.what());
      return nullptr;
    }
  const auto method = [&] { return solver<V>(*p.a, made.m.get(), o, {norm_2, facts.row_max}, transposed); };
  const auto attempt_of = [&](solver<V> s) {
    return std::unique_ptr<attempt>(new attempt{plan, o, *p.a, std::move(made.m), std::move(s), unseen});
  };
  if (off_chip(plan.solver) == plan.solver) return attempt_of(method());
  try {
    return attempt_of(method());
  } catch (const error& e) {
    if (e.kind != fault::memory && e.kind != fault::device && e.kind != fault::usage) throw; // M may be another one
    plan.solver = std::string(off_chip(plan.solver));                                        // it did not fit
    o.solver = tried.solver = plan.solver;
    return attempt_of(method());
  }
}

template class ladder_system<double>;
template class ladder_system<float>;

} // namespace furrow
