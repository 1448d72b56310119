// SPDX-License-Identifier: BSD-3-Clause
#include "prepared_system.hpp"

#include "coordinates.hpp"
#include "features.hpp"
#include "largest.hpp"
#include "memory.hpp"
#include "run.hpp"
#include "second_thoughts.hpp"
#include "survey.hpp"
#include "transposed.hpp"

#include "backends/cpu/parallel.hpp"
#include "backends/turn.hpp"
#include "core/check.hpp"
#include "core/clock.hpp"
#include "core/parameters.hpp"
#include "preconditioners/lu/factor_size.hpp"
#include "preconditioners/new_values.hpp"
#include "preconditioners/stop.hpp"

#include <furrow/array.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

namespace furrow {
namespace {

/// Whether a diagonal speaks for solving -A x = -b: no entry is positive and some are negative.
template <class V> bool has_negative_diagonal(const matrix_source<V>& source) {
  if (source.has_rows()) {
    const rows_look& l = source.look();
    return l.negative_diagonal > 0 && l.negative_diagonal + l.zero_diagonal == source.shape().rows;
  }
  const coo<V>& a = source.triplets();
  std::atomic<bool> negative = false, positive = false;
  cpu::for_each_range(a.nnz(), 1 << 16, [&](index_t first, index_t last) {
    for (index_t k = first; k < last; ++k) {
      if (a.row[k] != a.col[k]) continue;
      if (a.val[k] < 0) negative = true;
      if (a.val[k] > 0) positive = true;
    }
  });
  return negative && !positive;
}

/// M = I for operators that come without one.
template <class V> struct no_preconditioner final : any_preconditioner<V> {
  void apply(cview<V>, view<V>) const override { require(false, "the identity is never applied"); }
  typename any_preconditioner<V>::kind what() const override { return any_preconditioner<V>::kind::identity; }
  double stored_bytes() const override { return 0; }
};

} // namespace

template <class V> void prepared_system<V>::use(std::string_view solver, device where) {
  method = &find_solver(solver);
  check(method->on_gpu || !where.is_gpu(), fault::device,
        "{} has no GPU part: take another method there, or solve on the CPU", method->name);
  check(method->on_cpu || where.is_gpu(), fault::device,
        "{} keeps the system on the chip of a GPU, and has no part for the CPU: take {} there", method->name,
        off_chip(method->name));
  check(method->runner<V>() != nullptr, fault::usage,
        "{} works in single precision inside, and takes systems in double precision only", method->name);
  parameters_ = take_apart(solver).parameters;
  method->vectors(parameters_); // throws for parameters that make no sense
}

template <class V>
void prepared_system<V>::set_up(matrix_source<V> a, std::shared_ptr<const diagonal_scales<V>> around_m,
                                solve_options& o, setup_clock& clock, const matrix<V>* known) {
  around_m_ = std::move(around_m);
  o.precond = named_preconditioner(o);
  const bool factorised = method->name == "direct" && take_apart(o.precond).name == "lu"; // others ask for many steps
  survey s = survey_of<V>(a, o, clock, known, [&](const stats&) { return factorised; });
  norm_inf_ = s.facts.norm_inf;
  longest_row_ = s.facts.row_max;
  if (s.chosen.format) format_ = name_of(s.chosen), kernel_ = s.chosen.kernel, reason_ = s.chosen.reason;
  if ((refused = std::move(s.refused))) return;
  o.scale = o.reorder = "none"; // whoever solves inside has an arranged system
  const auto cancelled = [&] {
    if (auto said = interruption(o)) refused = std::move(said);
    return refused.has_value();
  };
  if (method->needs.a.symmetric && !o.assume_symmetric) a.check_symmetry();
  clock.end("symmetry");
  if (cancelled()) return;
  // Roots one by one: the product of two norms below 1e-162 is 0, and would hide nothing.
  norm_2_ = method->needs.a.symmetric ? norm_inf_ : std::sqrt(norm_inf_) * std::sqrt(largest_column_sum(a.triplets()));
  const stops_set_up stop([&, deadline = now() + o.time_limit]() -> std::optional<refusal> {
    if (auto said = interruption(o, deadline, o.precond)) refused = std::move(said);
    return refused;
  });
  const bool symmetric = method->needs.transposed && a.is_symmetric();
  try {
    set_up_preconditioner(a, s.facts, symmetric, o);
  } catch (const refusal& r) {
    refused = r;
    triplets = a.take_triplets();
    return;
  }
  clock.end("precond");
  if (cancelled()) return;
  if (method->needs.transposed && !symmetric) own_transposed_ = make_transposed(a.triplets(), o.where);
  if (cancelled()) return;
  opposite_ = own_m_->what() == any_preconditioner<V>::kind::identity && has_negative_diagonal(a);
  if (known) own_a_ = known->op();
  else own_a_ = a.store(s.chosen, s.facts);
  clock.end("convert");
  kernel_ = own_a_->kernel();
  a_ = own_a_.get();
  transposed_ = symmetric ? a_ : own_transposed_.get();
  m_ = own_m_.get();
}

/// From the one for other values, which is gone in any case, before another one takes memory.
template <class V> bool prepared_system<V>::renew_preconditioner(const matrix_source<V>& a, const solver_needs& needs) {
  auto last = std::move(before_);
  if (last && around_m_) {
    own_m_ = renew_scaled(std::move(last), a.triplets(), needs, around_m_);
  } else if (auto* const kept_values = dynamic_cast<takes_new_values<V>*>(last.get())) {
    if (a.has_rows() ? kept_values->update_from_rows(a.rows(), needs) : kept_values->update(a.triplets(), needs))
      own_m_ = std::move(last);
  }
  return own_m_ != nullptr;
}

/// And what the method makes beside it or in its place.
template <class V>
void prepared_system<V>::set_up_preconditioner(const matrix_source<V>& a, const stats& s, bool symmetric,
                                               const solve_options& o) {
  if (!method->set_up.replaces_m()) {
    const solver_needs needs = with_coordinates(method->needs_for(symmetric), o);
    if (!renew_preconditioner(a, needs))
      own_m_ = around_m_ ? make_scaled_preconditioner(o.precond, a.triplets(), o.where, needs, around_m_)
                         : make_preconditioner(o.precond, a, s, o.where, needs);
  } else {
    own_m_ = std::make_unique<no_preconditioner<V>>();
  }
  if (method->set_up) kept_ = method->set_up.template make<V>()(a.triplets(), *own_m_, parameters_, o);
}

template <class V>
void prepared_system<V>::set_up(const any_operator<V>& a, const any_preconditioner<V>* m, const operator_facts& facts,
                                const any_operator<V>* transposed, const solve_options& o) {
  check(transposed || !method->needs.transposed, fault::usage, "{} multiplies by the transposed operator, too: give it",
        method->name);
  check(!transposed || transposed->shape() == shape2{a.shape().cols, a.shape().rows}, fault::usage,
        "the transposed operator is {} x {} beside one of {} x {}", transposed ? transposed->shape().rows : 0,
        transposed ? transposed->shape().cols : 0, a.shape().rows, a.shape().cols);
  check(m || method->name != "direct", fault::usage,
        "direct factors the entries, which A does not show: give M, an approximation of the inverse, or take cg or "
        "gmres");
  check(!m || m->what() != any_preconditioner<V>::kind::diagonal || m->diagonal().size == a.shape().cols, fault::usage,
        "the diagonal of the preconditioner has {} elements for a matrix of {} x {}: give one for each column",
        m ? m->diagonal().size : 0, a.shape().rows, a.shape().cols);
  a_ = &a;
  transposed_ = transposed;
  if (!m) own_m_ = std::make_unique<no_preconditioner<V>>();
  m_ = m ? m : own_m_.get();
  norm_inf_ = norm_2_ = facts.norm;
  longest_row_ = facts.longest_row;
  format_ = "own", kernel_ = a.kernel(), reason_ = "given";
  if (const own_set_up& own = method->set_up) {
    const auto entries = own.beside_m ? a.to_triplets() : decltype(a.to_triplets()){};
    check(bool(entries), fault::usage,
          "{} keeps A and M in a form of its own: give the matrix, and a preconditioner by its name", method->name);
    const turn mine(o.where);
    solve_options with_m = o;
    with_m.precond = "auto";
    kept_ = own.template make<V>()(*entries, *m_, parameters_, with_m);
  }
}

template <class V> void prepared_system<V>::succeed(prepared_system& before, std::string why) {
  before_ = std::move(before.own_m_);
  before.refused = refusal{status::interrupted, std::move(why)};
  before.kept_.reset(), before.own_a_.reset(), before.own_transposed_.reset();
}

template <class V> solve_report prepared_system<V>::run(cview<V> b, view<V> x, const solve_options& o) const {
  if (refused && (refused->why == status::nan || refused->why == status::interrupted))
    return not_started(refused->why, refused->message);
  if (auto what = not_finite(b, "b"); !what.empty()) return not_started(status::nan, what);
  if (auto what = not_finite(as_cview(x), "the first guess"); !what.empty()) return not_started(status::nan, what);
  if (is_zero(b)) { // the exact answer, without a division by |b| = 0
    std::fill(x.begin(), x.end(), V(0));
    solve_report report = not_started(status::converged, "b is zero, so x is zero");
    report.relative_residual = 0;
    report.history = report.history_seconds = {0};
    return report;
  }
  if (refused) {
    solve_report report = not_started(refused->why, refused->message);
    report.relative_residual = residual_of_triplets(triplets, b, as_cview(x));
    return report;
  }
  const linear_system<V> whole = system(b, x);
  solve_report report = run_on_host_vectors<V>(*method, whole, o);
  find_the_cause(report, whole, b, o);
  return described(std::move(report));
}

template <class V>
std::optional<solve_report> prepared_system<V>::run_on_gpu(cview<V> b, view<V> x, const solve_options& o) const {
  if (refused) return {};
  const linear_system<V> whole = system(b, x);
  auto report = run_on_gpu_vectors<V>(*method, whole, o);
  if (!report) return {};
  find_the_cause(*report, whole, b, o);
  return described(std::move(*report));
}

/// With what is known of the operator and the preconditioner.
template <class V> solve_report prepared_system<V>::described(solve_report report) const {
  if (report.why == status::not_positive_definite && opposite_)
    report.message += "; its diagonal is negative: solve -A x = -b";
  report.precond_about = m_->describe();
  report.levels = m_->levels();
  const lu::factor_size factors = lu::factor_size_of(*m_);
  report.factor_entries_expected = factors.expected, report.factor_bytes_expected = factors.expected_bytes;
  report.factor_entries = factors.entries, report.factor_bytes = factors.bytes;
  report.factors_at_most = factors.is_bound;
  report.product_bytes = a_->bytes_per_apply();
  report.stored_bytes = a_->stored_bytes() + m_->stored_bytes() +
                        (own_transposed_ ? own_transposed_->stored_bytes() : 0) +
                        double(sizeof(V)) * double(std::max(a_->shape().rows, a_->shape().cols)) *
                            double(2 + method->vectors(parameters_)) +
                        (kept_ ? kept_->stored_bytes() : 0);
  return report;
}

template <class V> void prepared_system<V>::describe_choice(solve_report& report) const {
  report.format = format_, report.kernel = kernel_, report.reason = reason_;
  if (kept_) kept_->describe(report);
}

template <class V>
std::vector<solve_report> prepared_system<V>::run_on_gpu(cview<V> b, view<V> x, index_t columns,
                                                         const solve_options& o) const {
  if (refused || !method->columns<V>() || is_watched_closely(o)) return {};
  const index_t rows = b.size / columns, cols = x.size / columns;
  for (index_t j = 0; j < columns; ++j)
    if (!are_plain_on_gpu(cview<V>(part(b, j * rows, rows)), as_cview(part(x, j * cols, cols)))) return {};
  const linear_system<V> whole = system(b, x);
  auto reports = method->columns<V>()(whole, columns, o);
  for (index_t j = 0; j < columns; ++j) {
    solve_report& report = reports[static_cast<std::size_t>(j)];
    find_the_cause(report, whole, cview<V>(part(b, j * rows, rows)), o);
    report = described(std::move(report));
  }
  return reports;
}

/// What is special is solved by itself.
template <class V>
std::vector<solve_report> prepared_system<V>::run(cview<V> b, view<V> x, index_t columns, solve_options o) const {
  const index_t rows = b.size / columns, cols = x.size / columns;
  std::vector<solve_report> reports(static_cast<std::size_t>(columns));
  std::vector<index_t> together;
  const double most = o.time_limit, began = now();
  one_after_the_other next(o);
  for (index_t j = 0; j < columns; ++j) {
    const cview<V> one_b = part(b, j * rows, rows);
    const view<V> one_x = part(x, j * cols, cols);
    const bool plain = not_finite(one_b, "b").empty() && not_finite(as_cview(one_x), "x").empty() && !is_zero(one_b) &&
                       !needs_scale(one_b);
    if (plain && !refused && method->columns<V>() && !is_watched_closely(o)) together.push_back(j);
    else reports[static_cast<std::size_t>(j)] = next([&] { return run(one_b, one_x, o); });
    o.time_limit = most - (now() - began);
  }
  if (!together.empty() && !next.stopped()) run_together(together, b, x, o, reports);
  else
    for (const index_t j : together) reports[static_cast<std::size_t>(j)] = not_begun();
  return reports;
}

template <class V>
void prepared_system<V>::run_together(const std::vector<index_t>& numbers, cview<V> b, view<V> x,
                                      const solve_options& o, std::vector<solve_report>& reports) const {
  const index_t n = a_->shape().rows, count = static_cast<index_t>(numbers.size());
  const bool all = count * n == b.size;
  host_array<V> some_b(all ? 0 : count * n), some_x(all ? 0 : count * n);
  for (index_t k = 0; !all && k < count; ++k) {
    std::copy_n(b.data + numbers[k] * n, n, some_b.data() + k * n);
    std::copy_n(x.data + numbers[k] * n, n, some_x.data() + k * n);
  }
  const cview<V> from = all ? b : as_cview(some_b);
  const view<V> to = all ? x : as_view(some_x);
  std::vector<solve_report> ran;
  if (o.where.is_gpu()) {
    gpu_array<V> there_b(from.size), there_x(to.size);
    copy_bytes(gpu_memory{}, there_b.data(), host_memory{}, from.data, there_b.byte_count());
    copy_bytes(gpu_memory{}, there_x.data(), host_memory{}, to.data, there_x.byte_count());
    ran = method->columns<V>()(system(as_cview(there_b), as_view(there_x)), count, o);
    copy_bytes(host_memory{}, to.data, gpu_memory{}, there_x.data(), there_x.byte_count());
  } else {
    ran = method->columns<V>()(system(from, to), count, o);
  }
  for (index_t k = 0; k < count; ++k) {
    if (!all) std::copy_n(some_x.data() + k * n, n, x.data + numbers[k] * n);
    solve_report& report = ran[static_cast<std::size_t>(k)];
    find_the_cause(report, system(from, to), cview<V>(part(from, k * n, n)), o);
    reports[static_cast<std::size_t>(numbers[k])] = described(std::move(report));
  }
}

template class prepared_system<double>;
template class prepared_system<float>;

} // namespace furrow
