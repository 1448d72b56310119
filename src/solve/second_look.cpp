// SPDX-License-Identifier: BSD-3-Clause
#include "second_look.hpp"
#include "largest.hpp"
#include "rungs.hpp"

#include "preconditioners/entry.hpp"
#include "preconditioners/lu/inverse.hpp"
#include "solvers/direct/messages.hpp"
#include "solvers/entry.hpp"

#include <furrow/value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace furrow {
namespace {

/// Entries from which on nobody looks: an ordering alone takes longer than most solves of such a matrix.
constexpr index_t most_entries = 300000;
/// Operations of a factorisation for a byte of an iteration: 1 to 2.4e9 beside 6e9 to 2.7e10 in a second on two cores.
/// More where two preconditioners of more than a diagonal were needed, whose answers are the most doubtful.
constexpr double operations_a_byte = 0.14, operations_a_byte_when_hard = 0.25;
/// Operations in the time in which an entry is ordered and takes its part in the solves of the estimates: 0.4 to 1.7 us
/// on the real matrices.
constexpr double beside = 1500;
/// Operations for each entry with which it is not worth trying: factors of the real matrices take 50 to 10,000.
constexpr double too_few = 800;
/// Bytes of iterations in the time in which a preconditioner is set up, for each entry.
double set_up_bytes(std::string_view precond) {
  if (precond.starts_with("ilut")) return 8000;
  return precond == "none" || precond == "jacobi" ? 0 : 4000;
}
/// What is always worth it where there is reason to doubt: some 50 ms.
constexpr double always = 5e7;
/// Operations on full panels in the time of one of a sparse factorisation.
constexpr double when_dense = 10;
/// Times as fast as a host's is the memory of a GPU.
constexpr double gpu_speed = 20;

/// Ritz values approach the smallest eigenvalue from above, and b may hardly show it. Hilbert's matrices of 7 to 12
/// rows are solved to 1e-8 with estimates of 7e-4 and more beside errors of 3 to 140 %; estimates below 1e-4, as nearly
/// all systems have them, are right within a factor of 200 on the real matrices.
constexpr double surely_small = 1e-4;

/// Estimates whose error may be another one by far: those that are warned of, and large ones of few rows.
bool may_be_far_off(const solve_report& r, const features& f) {
  const bool large = !r.warning.empty() || (f.rows <= few_rows && r.error_estimate > surely_small);
  return large && r.error_estimate < 1;
}

/// Rows of which complete factors take less than a millisecond, whatever the entries: no estimate of a few steps is
/// taken for them. Hilbert's matrix of 12 rows is solved to 1e-8 with an estimate of 2e-5 beside an error of 34 %.
constexpr index_t surely_few = 200;

/// Whether factors are made as a dense matrix, without an order.
bool is_dense(const features& f) { return double(f.rows) * double(f.rows) <= 3 * double(f.nnz); }

bool says_condition(const solve_report& r) { return r.condition_estimate > 0 && r.solver != "lsmr"; }

/// The largest element of A^-1 (b - A x).
template <class V> double correction(const lu::inverse<V>& inverse, const coo<V>& a, cview<V> b, cview<V> x) {
  host_array<double> r(b.size);
  std::copy(b.begin(), b.end(), r.begin());
  for (index_t k = 0; k < a.nnz(); ++k) r[a.row[k]] -= double(a.val[k]) * double(x[a.col[k]]);
  inverse.solve(r.data(), nullptr, false);
  return largest_element(as_cview(r));
}

/// u | |A^-1| (|A| |x| + |b|) | / |x|, largest elements: what rounding of A and of b does to this x.
template <class V>
double rounding_of(const lu::inverse<V>& inverse, const coo<V>& a, cview<V> b, cview<V> x, double size) {
  host_array<double> d(b.size);
  for (index_t i = 0; i < b.size; ++i) d[i] = std::abs(double(b[i]));
  for (index_t k = 0; k < a.nnz(); ++k) d[a.row[k]] += std::abs(double(a.val[k]) * double(x[a.col[k]]));
  return std::numeric_limits<V>::epsilon() / 2 * inverse.amplified(d, size);
}

/// From where on that is worked out, half of what is warned of: by cond(A), which holds for any x, of D L D with
/// D = 1e-8 to 1e8 it is 500 % beside errors of 3e-10.
constexpr double much_by_rounding = 0.005;

/// A condition number of 0 is not known; a tolerance below all rounding helps nobody.
std::string off_by(double error, double condition, double tolerance) {
  const std::string much = error < 1 ? fmt::format("{:.0f} %", std::max(100 * error, 1.0)) : "as much as it is large";
  std::string text =
      fmt::format("the residual is small, but x may be off by {}, as complete factors of the matrix say", much);
  if (condition > 0)
    text += fmt::format(", whose condition number is {}",
                        std::isfinite(condition) ? fmt::format("about {:.1e}", condition) : "beyond all numbers");
  if (tolerance > 1e-16) text += fmt::format("; a tolerance of {:.0e} should make that 1 %", tolerance);
  return text;
}

} // namespace

/// What an estimate in the norm of M^-1 may be off by, for one in the largest element: the norm takes roots of the
/// diagonal, or of sizes of rows where nobody has looked at that.
bool hides_errors(double error_estimate, const features& f) {
  constexpr double tolerable = 0.01; // as in `direct_messages::is_large`
  return error_estimate * std::sqrt(std::max(f.scales, f.diagonal_scales)) > tolerable;
}

bool hides_errors(const solve_report& r, const features& f) {
  return r.warning.empty() && hides_errors(r.error_estimate, f);
}

bool may_see_little(const solve_report& r, const features& f) {
  constexpr double most_condition = 1e5;
  const std::string_view solver = off_chip(r.solver);
  return f.rows > surely_few && r.warning.empty() && (solver == "cg" || solver == "block_cg") &&
         r.condition_estimate > 0 && r.condition_estimate < most_condition;
}

bool shows_at_random(const solve_report& r, const features& f) {
  constexpr double alike = 1e4;
  const bool diagonal = r.precond == "jacobi" || r.precond == "none";
  return may_see_little(r, f) && !hides_errors(r, f) && (diagonal || f.scales < alike);
}

bool in_doubt(const solve_report& r, const features& f) {
  const bool lost = !r.warning.empty() && r.error_estimate == 0; // elements of b: all that is worked out lacks them
  const bool says_better = r.solver == "direct" && (r.iterations > 0 || r.condition_estimate > 0);
  const bool exact = r.iterations == 0 && r.relative_residual == 0;
  return f.more_columns <= 0 && !says_better && !exact && !lost &&
         (f.rows <= surely_few || !says_condition(r) || hides_errors(r, f) || may_be_far_off(r, f) ||
          may_see_little(r, f));
}

bool may_have_singular_part(const features& f) { return f.symmetric && f.zero_sums > 0 && f.nnz <= most_entries; }

bool wants_second_start(const solve_report& r, const features& f) {
  if (f.rows <= surely_few || r.iterations == 0) return false;
  return (!says_condition(r) && r.warning.empty()) || (may_see_little(r, f) && !hides_errors(r, f));
}

void work_done::add(const solve_report& r, const features& f) {
  bytes += r.bytes_per_iteration * double(r.iterations) + set_up_bytes(r.precond) * double(f.nnz);
  stored += set_up_bytes(r.precond) > 0;
}

double operations_worth(const solve_report& r, const features& f, const work_done& w) {
  // Beside a row that is nearly full, minimum degree takes a time that grows with the square of the rows.
  const bool dense = is_dense(f) || f.rows <= surely_few;
  if (f.nnz > most_entries || (!dense && double(f.longest_row) > 16 + 10 * std::sqrt(double(f.rows)))) return 0;
  const double entries = double(f.nnz), bytes = w.bytes / (w.on_gpu ? gpu_speed : 1);
  const double each = w.stored > 1 ? operations_a_byte_when_hard : operations_a_byte;
  const double left = each * bytes - beside * entries;
  const bool untold = r.iterations == 0 || w.in_vain;
  const double least = hides_errors(r, f) || f.rows <= few_rows ? always : 0;
  const double most = untold ? std::max(left, always - beside * entries) : left;
  return std::max(most < too_few * entries ? 0 : most, least) * (dense ? when_dense : 1);
}

bool is_made_sure_of(double apart, const features& f) {
  constexpr double tolerable = 0.01; // as in `direct_messages::is_large`
  return apart > tolerable && f.rows <= few_rows;
}

void warn_of_many_answers(solve_report& report, const std::string& by) {
  std::string text = fmt::format("the matrix is singular to working precision, as {} found: x is one of many that fit "
                                 "b as well",
                                 by);
  if (report.warning.starts_with(text)) return; // said when the answer was on trial
  if (!report.warning.empty()) text += "; " + report.warning;
  report.warning = std::move(text);
  report.error_estimate = 0; // of which of the answers?
}

void warn_of_hidden_errors(solve_report& report, const features& f) {
  report.error_estimate = 0;
  report.warning =
      fmt::format("the residual is small, but sizes of rows differ by {:.0e}, and x may be wrong where rows "
                  "are small: neither complete factors nor another start told within what they may take; "
                  "the solver direct tells",
                  f.scales);
}

template <class V> double largest_row_sum(const any_operator<V>& a) {
  if (a.where().is_gpu()) return largest_row_sum_on_gpu(a);
  const host_array<V> ones(a.shape().cols, V(1));
  host_array<V> sums(a.shape().rows);
  a.apply(V(1), as_cview(ones), V(0), as_view(sums));
  return largest_element(as_cview(sums));
}

template <class V>
bool adds_up_to_zero(double largest_sum, double norm_inf, const features& f, const std::function<bool()>& each_row) {
  if (!f.square() || !(norm_inf > 0) || !std::isfinite(norm_inf))
    return false; // sums may overflow where entries do not
  const double rounding = 16 * std::numeric_limits<V>::epsilon() * norm_inf;
  return largest_sum <= rounding && (largest_sum <= rounding / f.scales || each_row());
}

template <class V> bool each_row_adds_up_to_zero(const coo<V>& a) {
  host_array<double> sum(a.shape.rows, 0.0), size(a.shape.rows, 0.0);
  for (index_t k = 0; k < a.nnz(); ++k) {
    sum[a.row[k]] += double(a.val[k]);
    size[a.row[k]] += std::abs(double(a.val[k]));
  }
  for (index_t i = 0; i < a.shape.rows; ++i)
    if (!(std::abs(sum[i]) <= 16 * std::numeric_limits<V>::epsilon() * size[i])) return false;
  return true;
}

template <class V> std::optional<factor_look<V>> factor_look<V>::at(coo<V> a, double operations, double most_kept) {
  factor_look look;
  look.most_kept_ = most_kept;
  try {
    look.inverse_ = std::make_shared<const lu::inverse<V>>(a, "", operations);
    if (look.inverse_->hides_condition()) return {};
    const condition_numbers known = look.inverse_->condition();
    look.facts_.condition = known.norm_1;
    look.facts_.by_rounding = std::numeric_limits<V>::epsilon() / 2 * known.skeel;
    look.a_ = std::move(a);
    return look;
  } catch (const refusal& r) {
    look.facts_.singular = true;
    if (r.why == status::singular) return look;
  } catch (const error& e) {
    if (e.kind == fault::internal) throw; // otherwise: no memory, or a build without sparse factors
  }
  return {};
}

template <class V> factor_facts factor_look<V>::of(cview<V> b, cview<V> x, double relative_residual) {
  factor_facts told = facts_;
  const double size = largest_element(x);
  if (told.singular || !(size > 0)) return told;
  if (!inverse_) {
    told.amplification = gain_ * (length_of(b) / size);
    return told;
  }
  if (relative_residual > 0) told.amplification = correction(*inverse_, a_, b, x) / size / relative_residual;
  if (told.by_rounding > much_by_rounding && !inverse_->is_blurred())
    if (const double of_x = rounding_of(*inverse_, a_, b, x, size); of_x < told.by_rounding) told.by_rounding = of_x;
  if (inverse_->stored_bytes() <= most_kept_) return told;
  gain_ = told.amplification * (size / length_of(b));
  inverse_.reset(), a_ = {};
  return told;
}

template <class V>
std::optional<factor_facts> look_by_factors(const coo<V>& a, cview<V> b, cview<V> x, double operations,
                                            double relative_residual) {
  auto look = factor_look<V>::at(a, operations);
  if (!look) return {};
  return look->of(b, x, relative_residual);
}

bool looks_taken::take(const solve_report& r, bool unclear) {
  if (of_answer && !unclear) return false;
  bool& done = unclear ? of_unclear : r.iterations > 0 ? of_answer : of_guess;
  return !std::exchange(done, true);
}

void put_into(solve_report& report, const factor_facts& facts) {
  const double by_residual = facts.amplification * report.relative_residual;
  report.condition_estimate = facts.condition;
  report.error_estimate = by_residual + facts.by_rounding;
  report.warning.clear();
  if (!(report.error_estimate > 0.01)) return;
  report.warning = facts.by_rounding > much_by_rounding || !std::isfinite(by_residual)
                       ? direct_messages::warning(report.error_estimate, facts.condition)
                       : off_by(report.error_estimate, facts.condition, 0.005 / facts.amplification);
}

void put_nearest(solve_report& report, double error) {
  report.error_estimate = error;
  report.warning = error > 0.01 ? off_by(error, 0, 0.005 * report.relative_residual / error) : "";
}

template double largest_row_sum(const any_operator<double>&);
template double largest_row_sum(const any_operator<float>&);
template bool adds_up_to_zero<double>(double, double, const features&, const std::function<bool()>&);
template bool adds_up_to_zero<float>(double, double, const features&, const std::function<bool()>&);
template bool each_row_adds_up_to_zero(const coo<double>&);
template bool each_row_adds_up_to_zero(const coo<float>&);
template class factor_look<double>;
template class factor_look<float>;
template std::optional<factor_facts> look_by_factors(const coo<double>&, cview<double>, cview<double>, double, double);
template std::optional<factor_facts> look_by_factors(const coo<float>&, cview<float>, cview<float>, double, double);

} // namespace furrow
