// SPDX-License-Identifier: BSD-3-Clause
#include "inner.hpp"

#include "core/check.hpp"
#include "core/parameters.hpp"
#include "core/single_precision.hpp"
#include "core/symmetry.hpp"
#include "solve/coordinates.hpp"

#include <furrow/formats.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace furrow {
namespace {

/// Which method serves a matrix of which nothing was said.
std::string usual_method(const coo<double>& a) {
  if (!is_symmetric(a)) return "bicgstab";
  index_t positive = 0;
  for (index_t k = 0; k < a.nnz(); ++k) positive += a.row[k] == a.col[k] && a.val[k] > 0 ? 1 : 0;
  return positive == a.shape.rows ? "cg" : "minres";
}

const solver_entry& serving(std::string_view name) {
  const solver_entry& method = find_solver(name);
  check(!method.set_up.beside_m, fault::usage,
        "{} keeps a matrix of its own, which refine does not hand on: name another method, as in refine:cg",
        method.name);
  check(!method.set_up && method.name != "direct", fault::usage,
        "refine:{} would be two refinements in one: name the method inside, as in refine:cg or refine:gmres:50",
        method.name);
  check(!method.needs.transposed, fault::usage,
        "refine corrects the answer of a square system, which {} is not made for: take refine:cg or refine:gmres:50",
        method.name);
  method.vectors(take_apart(name).parameters); // throws for parameters that make no sense
  return method;
}

std::string preconditioner_of(const solve_options& o, const solver_entry& method) {
  return o.precond == "auto" ? std::string(method.precond) : o.precond;
}

/// The triplets of 2^exponent A, rounded.
coo<float> rounded(const coo<double>& a, int exponent) {
  try {
    return {a.shape, host_array<std::int32_t>(a.row), host_array<std::int32_t>(a.col),
            values_in_single_precision(a, exponent)};
  } catch (const error& e) {
    throw_sentence(e.kind, "refine rounds the matrix for its inner solver: {}, without refine", e.what());
  }
}

} // namespace

inner_system::inner_system(const coo<double>& a, std::string_view parameters, const solve_options& o)
    : name_(parameters.empty() ? usual_method(a) : std::string(parameters)), method_(&serving(name_)) {
  check(method_->on_gpu || !o.where.is_gpu(), fault::device, "{} has no GPU part: take refine:cg", method_->name);
  if (method_->needs.a.symmetric && !parameters.empty() && !o.assume_symmetric) check_symmetry(a);
  precond_ = preconditioner_of(o, *method_);
  exponent_ = exponent_for_single_precision(as_cview(a.val));
  coo<float> narrow = rounded(a, exponent_);
  const stats s = measure(narrow);
  norm_inf_ = s.norm_inf;
  longest_row_ = s.row_max;
  try {
    m_ = make_preconditioner(precond_, narrow, o.where,
                             with_coordinates(method_->needs_for(method_->needs.a.symmetric), o));
  } catch (refusal& r) { // of the rounded matrix, which may be indefinite or singular where A is not
    if (r.why == status::not_positive_definite || r.why == status::singular)
      r.message = fmt::format("in the single precision of refine {}; the solver {} by itself keeps the doubles",
                              r.message, name_);
    throw;
  }
  const choice c = choose(s, precision::f32, o.where, {"auto", "auto", o.expected_products});
  a_ = make(c, o.where, std::move(narrow));
}

solve_report inner_system::solve(cview<float> r, view<float> d, const solve_options& options) const {
  // |S|_2 stays 0: what rounding does to the residual of d is seen where the outer one is worked out.
  const linear_system<float> system{.a = *a_,
                                    .m = *m_,
                                    .b = r,
                                    .x = d,
                                    .norm_inf = norm_inf_,
                                    .longest_row = longest_row_,
                                    .parameters = take_apart(name_).parameters,
                                    .inner = true};
  return method_->f32(options.where, system, options);
}

double inner_system::stored_bytes() const {
  const double vectors = double(method_->vectors(take_apart(name_).parameters));
  return a_->stored_bytes() + m_->stored_bytes() + vectors * sizeof(float) * double(a_->shape().rows);
}

void inner_system::describe(solve_report& report) const {
  report.solver = "refine:" + name_;
  report.precond = precond_;
  report.precond_about = m_->describe();
  report.levels = m_->levels();
}

memory_estimate estimate_inner_system(const stats& s, std::string_view parameters, const solve_options& options) {
  solve_options o = options;
  o.solver = parameters.empty() ? "bicgstab" : std::string(parameters); // which takes most of those that are usual
  o.precond = preconditioner_of(options, serving(o.solver));
  o.format = o.kernel = "auto";
  o.values = precision::f64; // the doubles are counted by who asks
  return estimate_solve_memory(s, precision::f32, o);
}

} // namespace furrow
