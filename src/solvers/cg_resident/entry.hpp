// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "plan.hpp"

#include "core/check.hpp"
#include "core/parameters.hpp"
#include "solvers/entry.hpp"

/// The table's entry for a method on the chip. `Method` says its `names`, the vectors that it keeps there and in all,
/// its words of a row, which M that is no diagonal it applies, which M fit, and how it is set up and run.
namespace furrow::resident {

[[noreturn]] void no_gpu_part();

template <class Method, class V>
std::unique_ptr<solver_keeps> set_up(const coo<V>& a, const any_preconditioner<V>& m, std::string_view,
                                     const solve_options& options) {
  const bool named = options.precond != "auto";
  check(m.what() != any_preconditioner<V>::kind::general || Method::applies(m), fault::usage,
        "{} applies its preconditioner on the chip, where {} does not fit: take {}, or {} with {}", Method::who.solver,
        named ? options.precond : "this one", Method::fitting, Method::who.usual, named ? options.precond : "it");
  return Method::keep(a, m, options.where);
}

/// The plan on the host; on the GPU rows, their numbers and words. A halo has an element an entry at most.
template <class Method>
memory_estimate estimate_on_chip(const stats& s, std::string_view, const solve_options& options) {
  const double n = double(s.shape.rows), nnz = double(s.nnz), value = options.values == precision::f32 ? 4 : 8;
  return {.host = 16 * n + 6 * nnz, .gpu = (value + 6) * nnz + (8 + 2 * value * Method::words) * n};
}

template <class Method> bool serves(const stats& s, precision p, device where) {
  return may_fit(s.shape.rows, static_cast<int>(bytes_of(p)), chip_of(where), Method::kept);
}

template <class Method, class V> solve_report solve(device, const linear_system<V>& system, const solve_options& o) {
  return Method::solve(system, o);
}

template <class Method> index_t vectors_of(std::string_view parameters) {
  no_parameters(Method::who.solver, parameters);
  return Method::vectors;
}

template <class Method> constexpr solver_entry entry_of(std::string_view about, solver_needs needs) {
  return {.name = Method::who.solver,
          .about = about,
          .needs = needs,
          .vectors = vectors_of<Method>,
          .f64 = solve<Method, double>,
          .f32 = solve<Method, float>,
          .on_cpu = false,
          .set_up = {.estimate = estimate_on_chip<Method>,
                     .f64 = set_up<Method, double>,
                     .f32 = set_up<Method, float>,
                     .beside_m = true,
                     .may_serve = serves<Method>}};
}

} // namespace furrow::resident
