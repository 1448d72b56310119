// SPDX-License-Identifier: BSD-3-Clause
#include "factors.hpp"
#include "inverse.hpp"
#include "on_gpu.hpp"

#include "core/check.hpp"
#include "core/parameters.hpp"
#include "preconditioners/entry.hpp"
#include "preconditioners/stop.hpp"

#include <fmt/format.h>

namespace furrow {
namespace lu {

void refuse_singular(index_t column) {
  throw refusal{status::singular, fmt::format("the matrix is singular: column {} is zero or a combination of others, "
                                              "up to rounding; A x = b has no answer, or many",
                                              column + 1)};
}

void refuse_operations(double most) {
  throw refusal{status::max_iterations,
                fmt::format("complete factors take more than {:.2g} operations of floating point", most)};
}

} // namespace lu

namespace lu_preconditioner {
namespace {

constexpr std::string_view usage = "lu[:dense|band|cholesky|sparse]";

std::string_view checked(std::string_view parameters) {
  const entry_parameters words(usage, parameters);
  if (!words.has(0)) return {};
  const std::string_view which = words.word(0);
  if (words.has(1) || (which != "dense" && which != "band" && which != "cholesky" && which != "sparse"))
    words.refuse("there is no such kind");
  return parameters;
}

template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view parameters, device where, solver_needs) {
  const std::string_view which = checked(parameters);
  if (!where.is_gpu()) return std::make_unique<lu::inverse<V>>(a, which, bounds_operations::at_most());
  check(which.empty() || which == "sparse", fault::usage, "lu:{} has no GPU part: take lu there, or solve on the CPU",
        which);
  return lu::factored_by_cudss(a, where);
}

/// The factors hold at least what A holds; how much more is known when they are there, and refused as it is asked for.
preconditioner_layout lay_out(const stats& s, precision, std::string_view parameters) {
  checked(parameters);
  const double n = double(s.shape.rows), entries = double(s.nnz);
  return {.bytes = 12 * entries + 36 * n, .making = 24 * entries + 100 * n, .exact = false};
}

} // namespace

extern const preconditioner_entry entry{.name = "lu",
                                        .about = "M = A^-1 by a complete factorisation",
                                        .keeps = {true, true},
                                        .lay_out = lay_out,
                                        .f64 = make<double>,
                                        .f32 = make<float>,
                                        .parameters = "[:dense|band|cholesky|sparse]",
                                        .on_gpu = false,
                                        .on_gpu_by_library = true};

} // namespace lu_preconditioner
} // namespace furrow
