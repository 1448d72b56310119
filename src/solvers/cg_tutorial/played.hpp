// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "backends/gpu/play/report.hpp"

#include <furrow/solve.hpp>

namespace furrow {

/// A kernel that was launched again and again: its counts and faults summed up, the picture of its first launch.
struct played_launches {
  index_t launches = 0;
  play::kernel_report sum;
};

struct played_solve {
  solve_report report;
  std::vector<played_launches> kernels; ///< in the order in which they first ran
};

/// Solves A x = b by `cg_tutorial` without M, every one of its kernels played on the CPU: the product in `format` by
/// `kernel`, with what may follow their names, `add` and `dot`. What `iteration` does around the steps (the norm of b,
/// the verdict) is done by passes of the CPU. A goal, limits and the watcher come from `options`, x holds the first
/// guess. x has the bits that a GPU gives it. Throws `fault::usage` for a format or kernel that is not classic and
/// sides or lengths that do not fit, `fault::input` for a matrix that is not symmetric, for b = 0 and for a b that is
/// so large or small that a solve would scale it.
template <class V>
played_solve play_cg(const coo<V>& a, cview<V> b, view<V> x, std::string_view format, std::string_view kernel,
                     const solve_options& options, const play::settings& how);

} // namespace furrow
