// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "solvers/entry.hpp"

#include <furrow/error.hpp>

namespace furrow {

/// `cg` on a GPU with the host ahead of the device: see `cg_form::ahead`.
#if FURROW_HAS_GPU
template <class V> solve_report run_ahead(const linear_system<V>& system, const solve_options& options);
#else
template <class V> solve_report run_ahead(const linear_system<V>&, const solve_options&) {
  throw error(fault::device, "this build has no GPU part");
}
#endif

} // namespace furrow
