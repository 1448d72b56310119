// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include <furrow/operator.hpp>
#include <furrow/solve.hpp>
#include <furrow/stats.hpp>

#include <span>
#include <string>
#include <string_view>

/// Conjugate gradients without M in forms that lead from the tutorial's text to `cg`, a change at a time. All make the
/// same steps: `fused` and what follows have the same bits, `tutorial` adds p'q up in another order.
namespace furrow {

enum class cg_form {
  tutorial, ///< `cg_tutorial`: an operation a pass, scalars and verdict on the host
  fused,    ///< the three passes of cg, scalars and verdict on the host (fused.hpp)
  beside,   ///< scalars beside the vectors: `cg`; on a GPU the host launches its kernels and waits for each verdict
  ahead,    ///< of a GPU: the host launches a chunk of steps before it looks (backends/gpu/ahead_loop.hpp)
  graph     ///< of a GPU: a chunk is a graph, which the device runs by itself: `cg`
};

struct cg_form_entry {
  cg_form form;
  std::string_view name, about;
};
/// In the order of the enumeration.
std::span<const cg_form_entry> cg_forms();

/// Why `where` cannot run it, as a sentence; empty where it can.
std::string obstacle(cg_form f, device where);
/// The form that `--solver cg` has there.
cg_form form_of_cg(device where);

/// Solves A x = b in one of the forms. A symmetric; b and x lie where it does, x holds the first guess. s: statistics
/// of A. `steps`: what the form of cg takes, which `ahead` must know; others do not look at it. Throws `fault::usage`
/// for a form with an obstacle, and where `ahead` was told too many steps.
template <class V>
solve_report run_cg_form(cg_form f, const any_operator<V>& a, const stats& s, cview<V> b, view<V> x,
                         const solve_options& options, index_t steps);

} // namespace furrow
