// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "method.hpp"

#include "backends/cpu/space.hpp"
#include "core/parameters.hpp"

/// What every solver's entry says: which space runs it.
///
/// A method is a type with a name, for complaints, and `template <vector_space S> using solver`, a class that is made
/// from a space, a linear_system and solve_options, and has `solve_report run()`. The .cu file of its folder says
/// `FURROW_SOLVER_ON_GPU(method)`, see on_gpu.hpp.
namespace furrow {

/// What does not depend on the method is compiled once, in iteration_on_cpu.cpp, and not with each of them.
extern template class iteration<cpu::space<double>>;
extern template class iteration<cpu::space<float>>;

#if FURROW_HAS_GPU
template <class Method, class V> solve_report run_on_gpu(const linear_system<V>& system, const solve_options& options);
#else
template <class Method, class V> solve_report run_on_gpu(const linear_system<V>&, const solve_options&) {
  throw error(fault::device, "this build has no GPU part");
}
#endif

template <class Method, class V>
solve_report run_on_device(device where, const linear_system<V>& system, const solve_options& options) {
  if (where.is_gpu()) return run_on_gpu<Method, V>(system, options);
  cpu::space<V> space(system.ranks);
  return run_in<Method>(space, system, options);
}

/// For a method without parameters.
template <class Method, index_t vectors> index_t fixed_vectors(std::string_view parameters) {
  no_parameters(Method::name, parameters);
  return vectors;
}

} // namespace furrow
