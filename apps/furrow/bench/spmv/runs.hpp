// SPDX-License-Identifier: BSD-3-Clause
#pragma once
#include "bench/spmv/measure.hpp"

namespace furrow::cli::spmv_bench {

/// What is to be made of a matrix.
struct run {
  choice what;
  bool chosen = false; ///< by "auto"
};

/// The wishes as choices, "auto" first; what cannot be is told to `skip`.
std::vector<run> runs_of(const plan& p, const stats& s, precision values, const std::function<void(left_out)>& skip);

} // namespace furrow::cli::spmv_bench
