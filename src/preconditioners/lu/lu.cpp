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
  throw no_pivot{{status::singular, fmt::format("the matrix is singular: column {} is zero or a combination of others, "
                                                "up to rounding; A x = b has no answer, or many",
                                                column + 1)},
                 column};
}

void refuse_operations(double most) {
  throw refusal{status::max_iterations,
                fmt::format("complete factors take more than {:.2g} operations of floating point", most)};
}

} // namespace lu

namespace lu_preconditioner {
namespace {

constexpr std::string_view usage = "lu[:dense|band|cholesky|supernodal|sparse][:order=degree|dissection]";

struct wishes {
  std::string_view which; ///< empty: the cheapest
  lu::order_wish order = lu::order_wish::cheapest;
};

wishes wishes_of(std::string_view parameters) {
  const entry_parameters words(usage, parameters);
  wishes w;
  if (words.has(0)) w.which = words.word(0);
  const bool ordered = w.which.empty() || w.which == "cholesky" || w.which == "supernodal" || w.which == "sparse";
  if (words.has(1) || !(ordered || w.which == "dense" || w.which == "band")) words.refuse("there is no such kind");
  if (const auto order = words.named("order")) {
    if (*order != "degree" && *order != "dissection") words.refuse("there is no such order");
    if (!ordered) words.refuse("dense and banded factors keep the order of the matrix");
    w.order = *order == "degree" ? lu::order_wish::degree : lu::order_wish::dissection;
  }
  return w;
}

template <class V>
std::unique_ptr<any_preconditioner<V>> make(const coo<V>& a, std::string_view parameters, device where, solver_needs) {
  const wishes w = wishes_of(parameters);
  if (!where.is_gpu()) return std::make_unique<lu::inverse<V>>(a, w.which, bounds_operations::at_most(), w.order);
  check((w.which.empty() || w.which == "sparse") && w.order == lu::order_wish::cheapest, fault::usage,
        "lu:{} has no GPU part: take lu there, or solve on the CPU", parameters);
  return lu::factored_by_cudss(a, where);
}

/// The factors hold at least what A holds; how much more is known when they are there, and refused as it is asked for.
preconditioner_layout lay_out(const stats& s, precision, std::string_view parameters) {
  wishes_of(parameters);
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
                                        .parameters =
                                            "[:dense|band|cholesky|supernodal|sparse][:order=degree|dissection]",
                                        .on_gpu = false,
                                        .on_gpu_by_library = true};

} // namespace lu_preconditioner
} // namespace furrow
